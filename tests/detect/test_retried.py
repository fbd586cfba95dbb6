"""What was caught and tried anew, by a program's own words, did not end it."""

from dataclasses import replace

import pytest

from app.detect.retried import without_retried
from app.model import Line, Point, Sighting
from app.rulebook.compiled import Compiled
from tests.small_rules import a_cause, a_line, a_rulebook, a_signal

COMPILED = Compiled(
    a_rulebook(
        [a_cause("OutOfMemoryError"), a_cause("KeyError")],
        [a_signal("was_full", "OutOfMemoryError"), a_signal("no_key", "KeyError")],
    )
)
FULL = Sighting("was_full", a_line(10, rank=0), "proof", survivable=True)
AGAIN = "Decreasing batch size to: 12."


def steps(*numbers: int) -> list[Point]:
    return [Point(0, number, "train", step=number, loss=2.0) for number in numbers]


def is_left(
    sighting: Sighting, word: str, points: list[Point], number: int = 11, rank: int | None = None
) -> bool:
    lines: list[Line] = [a_line(number, text=word, rank=rank)]
    left, retried = without_retried([sighting], points, lines, COMPILED)
    assert len(left) + len(retried) == 1
    return bool(left)


@pytest.mark.parametrize(
    "word",
    [
        AGAIN,
        "CUDA out of memory detected. Train microbatch size will be decreased from 16 -> 8.",
        "Gradient Accumulation increased from 1 -> 2, and the batch will be retrained.",
        "WARNING pool: RewardWorker on 10.0.0.8 lost (OOM), task resubmitted (1/3)",
        "attempting to recover from OOM in forward/backward pass",
        "OOM during the step, skipping this batch",
        "retrying the step with a smaller batch",
        "Batch size 64 failed, trying batch size 32",
        "retrying after the cache was emptied",
    ],
)
def test_what_is_tried_anew_is_left_aside_once_two_steps_follow(word: str) -> None:
    assert not is_left(FULL, word, steps(12, 13))
    assert is_left(FULL, word, steps(12))
    assert is_left(FULL, word, steps(8, 9))


@pytest.mark.parametrize(
    "word",
    [
        "no more retries for this task, giving up",
        "If you see this, consider decreasing the batch size",
        "the task is not retried",
        "batch size 12",
        "max restarts of the worker exceeded",
    ],
)
def test_other_words_try_nothing_anew(word: str) -> None:
    assert is_left(FULL, word, steps(12, 13))


def test_the_word_must_follow_soon_and_come_from_the_same_rank() -> None:
    assert is_left(FULL, AGAIN, steps(30, 31), number=20)
    assert is_left(FULL, AGAIN, steps(12, 13), rank=3)
    assert not is_left(FULL, AGAIN, steps(12, 13), rank=0)


def test_what_nobody_caught_stands() -> None:
    raised = replace(FULL, survivable=False, facts={"frame": "/srv/fit.py:7:step"})
    assert is_left(raised, AGAIN, steps(12, 13))
    assert is_left(replace(FULL, signal="no_key"), AGAIN, steps(12, 13))
