"""Folds, stages and seeds, each with an end of its own."""

import pytest

from app.detect.enclosing import begin_of_the_last, is_of_one, is_of_the_last, more_are_to_come
from tests.detect.training_runs import line


def told(*texts):
    return [line(number, text) for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize(
    ("text", "one", "last"),
    [
        ("===== Fold 3/5 =====", True, False),
        ("Seed 2 of 3", True, False),
        ("[phase 2/2] epoch 10/10", False, True),
        ("fold 3", False, False),
        ("stage 1/1", False, False),
        ("data shard 3/5 of stage", False, False),
    ],
)
def test_a_line_names_one_of_several_trainings(text, one, last):
    assert (is_of_one(text), is_of_the_last(text)) == (one, last)


def test_a_log_ends_within_a_fold_that_others_follow():
    assert more_are_to_come(0, told("Fold 1/5", "Fold 2/5", "Fold 3/5"))
    assert not more_are_to_come(0, told("Fold 1/3", "Fold 2/3", "Fold 3/3"))


def test_where_one_number_0_was_told_the_last_of_three_is_2():
    assert not more_are_to_come(0, told("fold 0/3", "fold 1/3", "fold 2/3"))
    assert more_are_to_come(0, told("fold 0/3", "fold 1/3"))


def test_a_job_may_be_for_one_trial_alone_but_not_for_one_stage():
    assert not more_are_to_come(0, told("Beginning trial 07 of 10"))
    assert more_are_to_come(0, told("stage 1/2: warm-up"))


def test_folds_begin_again_for_each_seed():
    folds = ["seed 1/2", "fold 1/2", "fold 2/2", "seed 2/2", "fold 1/2"]
    assert more_are_to_come(0, told(*folds))
    assert not more_are_to_come(0, told(*folds, "fold 2/2"))


def test_the_last_begins_where_its_number_is_first_told():
    folds = ["fold 1/3", "fold 2/3", "fold 3/3: 900 samples", "fold 3/3 is over"]
    assert begin_of_the_last(0, told(*folds)) == 3
    assert begin_of_the_last(0, told(*folds[:2])) == 0
    assert begin_of_the_last(0, told("fold 0/2", "fold 1/2")) == 2
    assert begin_of_the_last(0, told("seed 2/2")) == 0


@pytest.mark.parametrize("outer_first", [True, False])
def test_counts_told_together_go_round_in_one_job(outer_first):
    def both(seed, fold):
        return ", ".join([f"seed {seed}/3", f"fold {fold}/2"][:: 1 if outer_first else -1])

    assert more_are_to_come(0, told(both(1, 1), both(1, 2)))
    assert not is_of_the_last(both(1, 2))
    assert not more_are_to_come(0, told(*(both(s, f) for s in (1, 2, 3) for f in (1, 2))))


def test_stages_of_a_pipeline_or_of_zero_are_no_trainings():
    assert not more_are_to_come(0, told("ZeRO stage 1/3", "pipeline stage 0/4: layers 0-7"))


@pytest.mark.parametrize(
    ("first", "second", "more"),
    [
        ("=== Adapter 1/5", "=== Adapter 2/5", True),
        ("Ensemble member 1 of 3", "Ensemble member 2 of 3", True),
        ("=== Adapter 1/2", "=== Adapter 2/2", False),
        ("Epoch 1/5", "Epoch 2/5", False),
        ("Loading shard 1/5", "Loading shard 2/5", False),
        ("adapter 1/5 is fast", "adapter 2/5 is fast", False),
    ],
)
def test_a_heading_may_count_what_nobody_thought_of(first, second, more):
    assert more_are_to_come(0, told(first, second)) is more


def test_a_heading_may_stand_before_the_attempt_that_it_opens():
    whole = told("Run 1/5", "loss 2.1", "Run 2/5", "loss 2.2", "loss 2.1", "loss 2.0", "loss 1.9")
    assert more_are_to_come(0, whole[3:], whole)
    assert not more_are_to_come(0, whole[6:], whole)
