"""Words of an end that are said after each epoch, round or game."""

import pytest

from app.detect.ending import ending
from app.model import Marked
from tests.detect.training_runs import at, line, losses, run


def said(*numbers, text="Training finished.", grade="trainer", rank=None):
    return [Marked("done", "finished", line(number, text, rank=rank), grade) for number in numbers]


@pytest.mark.parametrize("grade", ["trainer", "wrapper", "hint"])
def test_a_word_after_each_epoch_says_nothing_of_the_last(grade):
    assert ending(said(10, 20, 41, grade=grade), run(losses(40))).finished is None


def test_a_job_may_train_two_models_in_turn():
    assert ending(said(20, 41), run(losses(40))).finished == "trainer"


def test_once_belied_is_enough_where_steps_are_to_go():
    assert ending(said(20, 41), run(losses(40), total=900)).finished is None


def test_each_rank_says_it_once():
    words = [mark for rank in range(4) for mark in said(36 + rank, rank=rank)]
    assert ending(words, run(losses(37))).finished == "trainer"


def rounds(*numbers):
    return [line(at, f"----- Iteration {number} -----") for at, number in numbers]


def test_a_count_in_words_goes_up_between_them():
    words = said(2, 8, 14)
    assert ending(words, [], rounds((1, 1), (6, 2), (12, 3))).finished is None
    assert ending(words, [], rounds((1, 1), (6, 2), (12, 2))).finished == "trainer"
    assert ending(words[:2], [], rounds((1, 1), (6, 2))).finished == "trainer"


def test_one_step_of_a_count_that_began_anew_is_of_another_run():
    more = run([7.9], line=60)
    assert ending(said(50), run(losses(40)) + more).finished is None
    late = at(run([2.0], line=60), step=390)
    assert ending(said(50), run(losses(40)) + late).finished == "trainer"


def test_losses_without_a_number_are_steps_too():
    more = [
        point
        for n, value in enumerate([0.69, 0.61, 0.55])
        for point in at(run([value], series="dpo", line=60 + n), step=None, text=f"loss {value}")
    ]
    assert ending(said(50), run(losses(40)) + more).finished is None
    assert ending(said(50), run(losses(40)) + more[:2]).finished == "trainer"
