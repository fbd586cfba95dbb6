"""What a thread failed at is news again when the next save refuses to go on because of it."""

import pytest

from app.detect.recalled import with_recalled
from app.model import Sighting
from tests.small_rules import a_line

FAILED = Sighting("throttled", a_line(5), "clue", {"frame": "up.py:3:put", "message": "SlowDown"})


def ended_by(message: str) -> Sighting:
    return Sighting("runtime_error", a_line(90), "proof", {"message": message})


@pytest.mark.parametrize(
    ("message", "is_recalled"),
    [
        ("previous checkpoint upload (step 4000) failed, refusing to continue", True),
        ("Upload worker crashed. Please check the logs.", True),
        ("async save has failed", True),
        ("writer thread died while saving", True),
        ("checkpoint has no key `step`", False),
        ("previous shapes failed to match", False),
        ("upload finished", False),
    ],
)
def test_an_earlier_failure_is_recalled_by_what_refers_to_it(
    message: str, *, is_recalled: bool
) -> None:
    found, survived = with_recalled([ended_by(message)], [FAILED])
    assert [s.strength for s in found if s.signal == "throttled"] == ["proof"] * is_recalled
    assert survived == (() if is_recalled else (FAILED,))


def test_what_left_no_traceback_stays_aside() -> None:
    warned = Sighting("throttled", a_line(5), "clue", {"reason": "SlowDown"})
    ended = ended_by("previous upload failed")
    assert with_recalled([ended], [warned]) == ((ended,), (warned,))
