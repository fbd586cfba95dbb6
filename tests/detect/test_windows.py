"""A context counts only right before what it may be the reason of, by the clock or by the lines."""

import pytest

from app.detect.windows import with_windows
from app.model import Line, Point, Sighting
from app.rulebook.compiled import Compiled
from tests.small_rules import a_cause, a_line, a_rulebook, a_signal

WINDOW = {"of": ["Wait"], "seconds": 60, "lines": 20}
COMPILED = Compiled(
    a_rulebook(
        [a_cause("Link"), a_cause("Wait")],
        [
            a_signal("flap", "Link", strength="context", window_before=WINDOW),
            a_signal("hint", "Link", strength="context"),
            a_signal("late", "Wait"),
            a_signal("beat", "Wait", lookback=480),
        ],
    )
)


def strength(
    context: str,
    at: Line,
    late: Line,
    signal: str = "late",
    points: tuple[Point, ...] = (),
    **facts: str,
) -> str:
    seen = [Sighting(context, at, "context"), Sighting(signal, late, "proof", facts)]
    return with_windows(seen, points, COMPILED)[0].strength


@pytest.mark.parametrize(
    ("time", "counts"), [(939.0, False), (941.0, True), (999.0, True), (1001.0, False)]
)
def test_by_the_clock_it_counts_up_to_so_many_seconds_before(time: float, counts: bool) -> None:
    late = a_line(9, time=1000.0)
    assert (strength("flap", a_line(5, time=time), late) == "clue") is counts


def test_the_wait_that_a_timeout_names_or_stands_for_lies_between() -> None:
    late, flap = a_line(900, time=1000.0), a_line(5, time=380.0)
    assert strength("flap", flap, late, timeout_ms="600000") == "clue"
    assert strength("flap", flap, late) == "context"
    assert strength("flap", a_line(5, time=500.0), late, "beat") == "clue"
    assert strength("flap", a_line(5, time=400.0), late, "beat") == "context"


@pytest.mark.parametrize(
    ("at", "counts"),
    [
        (a_line(80), True),
        (a_line(79), False),
        (a_line(101), False),
        (a_line(99, file=1), False),
        (a_line(99, time=5.0), True),
        (a_line(99, rank=3), True),
        (a_line(99, rank=4), False),
        (a_line(99, host="hall-b"), False),
    ],
)
def test_where_a_clock_is_missing_it_counts_so_many_lines_before(at: Line, counts: bool) -> None:
    assert (strength("flap", at, a_line(100, rank=3, host="hall-a")) == "clue") is counts


@pytest.mark.parametrize(
    ("number", "file", "counts"), [(89, 0, True), (95, 0, False), (95, 1, True)]
)
def test_without_a_clock_a_step_of_training_between_shows_that_it_did_no_harm(
    number: int, file: int, counts: bool
) -> None:
    step = Point(file, number, "train", loss=2.0)
    assert (strength("flap", a_line(90), a_line(100), points=(step,)) == "clue") is counts
    clocked = strength("flap", a_line(90, time=50.0), a_line(100, time=60.0), points=(step,))
    assert clocked == "clue"


def test_a_context_without_a_window_or_with_nothing_behind_it_stays_one() -> None:
    assert strength("hint", a_line(99), a_line(100)) == "context"
    alone = (Sighting("flap", a_line(5), "context"),)
    assert with_windows(alone, (), COMPILED) == alone
    two = [Sighting(name, a_line(5), "context") for name in ("flap", "late")]
    assert [s.strength for s in with_windows(two, (), COMPILED)] == ["context", "context"]
