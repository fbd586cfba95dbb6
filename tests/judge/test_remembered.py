from dataclasses import replace

import pytest

from app.incident import Precedent, Recalled
from app.judge.remembered import remembered
from app.model import Primary, Verdict
from app.recover.precedent import by_precedent
from tests.own_rules import COMPILED

PRIMARY = Primary("Unknown", "outcome", None, None, "low", "fp", "the log does not say", None)
PRECEDENTS = (
    Precedent("in_1", "KeyError", 0.9, True),
    Precedent("in_2", "KeyError", 0.8, True),
    Precedent("in_3", "KeyError", 0.8, False),
)


@pytest.fixture(scope="module")
def rulebook():
    return COMPILED.rulebook


def recalled(cause):
    return Recalled(PRECEDENTS, cause)


def test_memory_speaks_where_the_rules_know_nothing_and_is_never_sure(rulebook):
    found = remembered(Verdict(PRIMARY, remarks=("killed",)), recalled("KeyError"), rulebook)
    assert (found.primary.cause, found.primary.domain) == ("KeyError", "script")
    assert (found.primary.confidence, found.primary.strength) == ("low", None)
    assert found.remarks[0] == "killed"
    assert "in_1, in_2" in found.remarks[1]
    assert "in_3" not in found.remarks[1]


@pytest.mark.parametrize(
    ("primary", "cause"),
    [
        (replace(PRIMARY, cause="ECCError", strength="proof"), "KeyError"),
        (replace(PRIMARY, cause="ECCError", strength="clue"), "KeyError"),
        (replace(PRIMARY, cause="Completed"), "KeyError"),
        (replace(PRIMARY, cause="KeyError", strength="echo"), "KeyError"),
        (PRIMARY, None),
        (PRIMARY, "Unknown"),
        (PRIMARY, "CauseThatNoRulebookKnows"),
    ],
)
def test_the_verdict_of_the_rules_stands_otherwise(rulebook, primary, cause):
    assert remembered(Verdict(primary), recalled(cause), rulebook) is None


def test_an_echo_gives_way(rulebook):
    echo = replace(PRIMARY, cause="CalledProcessError", strength="echo")
    assert remembered(Verdict(echo), recalled("KeyError"), rulebook).primary.cause == "KeyError"


def test_memory_alone_restarts_cordons_and_resubmits_nothing(rulebook):
    for cause in rulebook.causes.values():
        found = remembered(Verdict(PRIMARY), recalled(cause.name), rulebook)
        plan = by_precedent(found, rulebook)
        assert plan.action in ("none", "fix_code", "fix_config", "fix_data")
        assert not plan.restart
        assert plan.targets == plan.commands == ()
        assert plan.steps[0].startswith("No rule knows this log.")
        assert len(plan.steps) == 1 + len(cause.recovery.steps)
