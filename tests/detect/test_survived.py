"""What training survived did not end it."""

from dataclasses import replace

import pytest

from app.detect.survived import without_survived
from app.model import Line, Point, Sighting, Strength
from app.rulebook.compiled import Compiled
from tests.small_rules import a_cause, a_line, a_rulebook, a_signal

COMPILED = Compiled(
    a_rulebook(
        [a_cause("Pump"), a_cause("Notice", "scheduler"), a_cause("Illness", "training")],
        [a_signal("leak", "Pump"), a_signal("notice", "Notice"), a_signal("illness", "Illness")],
    )
)


def seen(line: Line, signal: str = "leak", strength: Strength = "proof", **facts: str) -> Sighting:
    return Sighting(signal, line, strength, facts)


def steps(*numbers: int, rank: int | None = None, file: int = 0) -> list[Point]:
    return [Point(file, number, "train", rank=rank, step=number) for number in numbers]


def left(sighting: Sighting, points: list[Point], *, finished: bool = False) -> bool:
    return strength_left(sighting, points, finished=finished) == sighting.strength


def strength_left(
    sighting: Sighting, points: list[Point], *, finished: bool = False
) -> Strength | None:
    standing, dropped = without_survived([sighting], points, COMPILED, finished=finished)
    assert len(standing) + len(dropped) == 1
    return standing[0].strength if standing else None


@pytest.mark.parametrize("strength", ["clue", "echo"])
def test_a_clue_or_an_echo_that_training_survived_is_left_aside(strength: Strength) -> None:
    clue = seen(a_line(10), strength=strength)
    assert not left(clue, steps(11, 12, 13, 14, 15))
    assert left(clue, steps(11, 12, 13, 14))
    assert left(clue, steps(5, 6, 7, 8, 9, 10))
    assert left(clue, [])


def test_so_is_a_proof_that_somebody_may_have_caught_if_its_own_printer_went_on() -> None:
    caught = replace(seen(a_line(10)), survivable=True)
    assert not left(caught, steps(11, 12, 13, 14, 15))
    assert left(caught, steps(11, 12, 13, 14))
    of_rank = replace(caught, line=a_line(10, rank=3))
    assert strength_left(of_rank, steps(11, 12, 13, 14, 15)) == "clue"


def test_the_same_step_printed_again_is_no_progress() -> None:
    points = [Point(0, number, "train", step=3) for number in range(11, 99)]
    assert left(seen(a_line(10), strength="clue"), points)


def readings(*numbers: int, series: str = "train", losses: tuple[float, ...] = ()) -> list[Point]:
    told = losses or tuple(2.0 - 0.01 * number for number in numbers)
    return [
        Point(0, number, series, loss=loss, text=f"{{'loss': {loss}, 'epoch': 0.1}}")
        for number, loss in zip(numbers, told, strict=True)
    ]


def test_readings_that_tell_no_step_are_progress_too() -> None:
    clue = seen(a_line(10), strength="clue")
    assert not left(clue, readings(11, 12, 13, 14, 15))
    assert left(clue, readings(11, 12, 13, 14))
    assert left(clue, readings(11, 12, 13, 14, 15, losses=(2.0,) * 5))
    assert left(clue, readings(11, 12, 13, 14, 15, series="eval train"))
    assert left(clue, readings(11, 13, 15) + readings(12, 14, series="critic"))


def test_losses_within_numbered_steps_are_no_steps_of_their_own() -> None:
    clue = seen(a_line(10), strength="clue")
    numbered = [Point(0, number, "step", step=number, loss=2.0) for number in (9, 20)]
    assert left(clue, numbered + readings(11, 12, 13, 14, 15, series="micro"))


@pytest.mark.parametrize(
    ("of_line", "of_points", "survived"),
    [(3, 3, True), (3, 4, False), (3, None, True), (None, 4, True), (None, None, True)],
)
def test_only_the_steps_of_the_same_rank_count(
    of_line: int | None, of_points: int | None, survived: bool
) -> None:
    clue = seen(a_line(10, rank=of_line), strength="clue")
    assert left(clue, steps(11, 12, 13, 14, 15, rank=of_points)) != survived


def test_steps_of_several_printers_add_up() -> None:
    clue = seen(a_line(10, rank=3), strength="clue")
    points = steps(11, 13, 15, rank=3) + steps(12, 14) + steps(16, 17, rank=5)
    assert not left(clue, points)
    assert left(clue, points[1:])


def test_steps_in_another_file_say_nothing_of_this_one() -> None:
    assert left(seen(a_line(10), strength="clue"), steps(11, 12, 13, 14, 15, file=1))


def test_the_trainers_word_takes_proofs_back_as_if_they_were_clues() -> None:
    after = steps(11, 12, 13, 14, 15)
    assert not left(seen(a_line(10)), after, finished=True)
    assert left(seen(a_line(14)), after, finished=True)


def clocked(*numbers: int, rank: int | None = None, file: int = 0, pace: float = 1) -> list[Point]:
    """Steps, one a line, each so many seconds after the line before it."""
    return [replace(p, time=pace * p.number) for p in steps(*numbers, rank=rank, file=file)]


@pytest.mark.parametrize(
    ("line", "points", "strength"),
    [
        (a_line(10), steps(*range(11, 15)), "proof"),
        (a_line(10), steps(*range(11, 16)), "clue"),  # a buffer may have held them back
        (a_line(10), steps(*range(11, 110)), "clue"),
        (a_line(10), steps(*range(11, 111)), None),
        (a_line(10, time=10.0), clocked(*range(11, 16)), None),
        (a_line(10, time=16.0), clocked(*range(11, 16)), "proof"),  # its place is not its time
        (a_line(10, rank=3), clocked(*range(11, 111), rank=0), None),
        (a_line(10, rank=3), steps(*range(11, 111), rank=0) + steps(8, rank=3), "proof"),
        (a_line(120, time=1.0), clocked(*range(11, 111)), "proof"),
    ],
)
def test_a_proof_falls_where_work_surely_went_on(
    line: Line, points: list[Point], strength: Strength | None
) -> None:
    assert strength_left(seen(line), points) == strength


def test_a_scheduler_gives_notice_of_an_end_that_is_still_to_come() -> None:
    line = a_line(10, time=10.0)
    assert left(seen(line, "notice"), clocked(*range(11, 400)))
    assert not left(seen(line, "notice"), clocked(*range(11, 400), pace=60))
    assert left(seen(a_line(10), "notice"), steps(*range(11, 400)))
    assert not left(seen(a_line(10), "notice"), clocked(*range(11, 400), pace=60))


def test_what_ails_the_training_itself_lets_it_go_on() -> None:
    assert left(seen(a_line(10, time=10.0), "illness"), clocked(*range(11, 400)))


@pytest.mark.parametrize(
    ("days_before", "strength"), [(0.01, "proof"), (0.1, "clue"), (0.9, "clue"), (30, None)]
)
def test_the_kernels_file_is_compared_by_the_clock(
    days_before: float, strength: Strength | None
) -> None:
    now = 1_800_000_000.0
    points = [Point(0, n, "train", time=now + n, step=n) for n in range(1, 9)]
    line = a_line(3, file=1, time=now - days_before * 86_400)
    assert strength_left(seen(line), points) == strength


def test_what_happened_long_before_the_first_step_was_no_part_of_the_job() -> None:
    now = 1_800_000_000.0
    points = [Point(0, n, "train", time=now + n, step=n) for n in range(1, 9)]
    assert not left(seen(a_line(99, time=now - 30 * 86_400)), points)
    assert left(seen(a_line(99, time=now - 86_400)), points)


@pytest.mark.parametrize(("loss", "heals"), [(2.1, True), (float("nan"), False)])
def test_a_step_without_numbers_is_healed_by_a_last_loss_that_is_one(
    loss: float, heals: bool
) -> None:
    rules = a_rulebook(
        [a_cause("NonFiniteLoss", "training")], [a_signal("broken", "NonFiniteLoss")]
    )
    points = [Point(0, 9, "train", step=9, loss=loss)]
    warned = seen(a_line(5), "broken", "clue")
    for finished in (True, False):
        standing, _ = without_survived([warned], points, Compiled(rules), finished=finished)
        assert (not standing) is (heals and finished)
