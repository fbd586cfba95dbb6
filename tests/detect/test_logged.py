"""What was caught and logged ended its process where nothing more came of it."""

import pytest

from app.detect.logged import LOGGED, with_last_words
from app.model import EndGrade, Ending, Line, Marked, Point, Sighting
from app.rulebook.compiled import Compiled
from tests.small_rules import a_cause, a_line, a_rulebook, a_signal

COMPILED = Compiled(a_rulebook([a_cause("Pump")], [a_signal("leak", "Pump")]))


def strength(
    steps: tuple[int, ...] = (2, 4),
    *,
    code: str = "1",
    rank: str = "",
    finished: EndGrade | None = None,
    proof_by: Line | None = None,
) -> str:
    """Say what a leak that rank 3 logged on line 5 is worth, where its process exits on line 9."""
    caught = Sighting("leak", a_line(5, rank=3), "clue", doubt=LOGGED)
    proof = [Sighting("leak", proof_by, "proof")] if proof_by else []
    points = [Point(0, number, "train", rank=3, loss=2.0) for number in steps]
    facts = {"code": code, "rank": rank} if rank else {"code": code}
    gone = Marked("gone", "exit", a_line(9), None, facts)
    return with_last_words([caught, *proof], points, [gone], Ending(finished), COMPILED)[0].strength


def test_the_last_words_of_a_process_that_ended_itself_are_believed() -> None:
    assert strength() == "proof"
    assert strength(rank="3") == "proof"
    assert strength(proof_by=a_line(7, rank=4)) == "proof"


@pytest.mark.parametrize("steps", [(), (2, 4, 6), (6,)])
def test_training_had_been_going_on_and_stopped_there(steps: tuple[int, ...]) -> None:
    assert strength(steps) == "clue"


def test_who_was_killed_or_went_on_or_raised_something_else_did_not_end_by_it() -> None:
    assert strength(code="143") == "clue"
    assert strength(code="-9") == "clue"
    assert strength(rank="4") == "clue"
    assert strength(finished="trainer") == "clue"
    assert strength(proof_by=a_line(7, rank=3)) == "clue"
