"""Counters that came to their end, and of what."""

import pytest

from app.detect.counted import counted_to_the_end
from tests.detect.training_runs import at, line, run


def counter(*steps, total=20, series="epoch #/#", text=""):
    drawn = run([None] * len(steps), series=series, total=total)
    return [at([point], step=step, text=text)[0] for point, step in zip(drawn, steps, strict=True)]


def test_a_counter_that_began_again_after_its_end_is_of_a_fold():
    assert counted_to_the_end(counter(18, 19, 20))
    assert not counted_to_the_end(counter(18, 19, 20, 1, 2, 19, 20))
    assert not counted_to_the_end(counter(17, 18, 19, 0, 1, 18, 19))


def test_late_lines_of_another_rank_are_no_new_begin():
    assert counted_to_the_end(counter(18, 19, 20, 19, 20))


def test_a_counter_of_another_total_is_another_stage():
    stages = [*counter(19, 20), *counter(1, 39, 40, total=40)]
    assert counted_to_the_end(stages)


@pytest.mark.parametrize("series", ["warmup epoch #/#", "[fold #] epoch #/#", "sanity step #/#"])
def test_a_counter_that_calls_itself_one_of_a_part(series):
    assert not counted_to_the_end(counter(18, 19, 20, series=series))


def test_the_last_of_several_is_told():
    last = "[fold 5/5] epoch 20/20"
    assert counted_to_the_end(counter(18, 19, 20, series="[fold #/#] epoch #/#", text=last))
    other = "[phase 1/2] epoch 20/20"
    assert not counted_to_the_end(counter(18, 19, 20, series="[phase #/#] epoch", text=other))


def test_of_three_folds_the_last_came_to_its_end():
    folds = counter(19, 20, 1, 19, 20, 1, 19, 20)
    heads = [line(n, f"fold {n // 3 + 1}/3") for n in (0, 3, 6)]
    assert counted_to_the_end(folds, heads)
    assert not counted_to_the_end(folds, heads[:2])
    assert not counted_to_the_end(folds[:-1], heads)


def test_two_epochs_in_each_round():
    assert not counted_to_the_end(counter(1, 2, 1, 2, total=2))
    assert counted_to_the_end(counter(0, 1, total=2))
