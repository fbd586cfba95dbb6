"""Where the rules' verdict is worth a question."""

from dataclasses import replace

import pytest

from app.judge.in_doubt import in_doubt
from app.model import Primary, Root, Verdict


def a_verdict(cause="ECCError", strength="proof", confidence="high"):
    return Verdict(Primary(cause, "infrastructure", "s", strength, confidence, "f", "", None))


@pytest.mark.parametrize(
    "verdict",
    [
        a_verdict(),
        a_verdict(confidence="medium"),  # the scheduler objects; the proof stands alone
        a_verdict("Completed", None, "high"),
    ],
)
def test_a_lone_proof_and_a_clean_end_are_beyond_doubt(verdict):
    assert not in_doubt(verdict)


@pytest.mark.parametrize(
    "verdict",
    [
        a_verdict(strength="clue", confidence="medium"),
        a_verdict(strength="echo", confidence="low"),
        a_verdict(strength=None, confidence="low"),  # from memory
        a_verdict("Unknown", None, "low"),
        a_verdict("Completed", None, "medium"),
    ],
)
def test_everything_else_is_in_doubt(verdict):
    assert in_doubt(verdict)


def test_a_second_root_brings_doubt_to_a_proof_and_to_an_end():
    other = Root("NetworkError", "n", "clue", 1, "a.log", 3)
    for verdict in (a_verdict(), a_verdict("Completed", None, "high")):
        assert in_doubt(replace(verdict, other_roots=(other,)))
