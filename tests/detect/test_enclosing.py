"""Folds, stages and seeds, each with an end of its own."""

import pytest

from app.detect.enclosing import (
    begin_of_the_last,
    epochs_are_to_come,
    is_of_one,
    is_of_the_last,
    more_are_to_come,
    others_are_promised,
    that_count,
)
from app.model import Marked, Point
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
        ("seed 7 (1 of 3)", True, False),
        ("language 2/6: de", True, False),
        ("update 2/600: loss 2.1", False, False),
        ("Modelo 1 de 5", True, False),
        ("fase 3 di 3", False, True),
        ("第 1/5 折", True, False),
        ("阶段 1/3：预训练", True, False),
        ("1/4 단계 시작", True, False),
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
    assert not more_are_to_come(0, told("this script runs phase 1 of 2 only"))


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


def _steps(*numbers):
    return [Point(0, place, "step #", step=step) for place, step in enumerate(numbers, 1) if step]


@pytest.mark.parametrize(
    ("heading", "steps", "more"),
    [
        ("bucket {}/5", (0, 10, 20, 0, 30, 40), False),
        ("bucket {}/5", (0, 10, 20, 0, 10, 20), True),
        ("dataset {}/3", (0, 0, 10, 0, 10, 20), False),
        ("fold {}/5", (0, 10, 20, 0, 30, 40), True),
    ],
)
def test_what_nobody_knows_for_trainings_begins_its_steps_anew(heading, steps, more):
    lines = [line(1, heading.format(1)), line(2 if steps[1] == 0 else 4, heading.format(2))]
    assert more_are_to_come(0, lines, lines, _steps(*steps)) is more


@pytest.mark.parametrize(
    ("texts", "promised"),
    [
        (["fold 1 of 5", "training finished"], True),
        (["fold 0 of 5", "training finished", "model saved"], True),
        (["part 1 of 12", "training finished"], True),
        (["fold 1 of 5", "training finished", "script exited with code 0"], False),
        (["using fold 1 of 5 as held-out data", "training finished"], False),
        (["+ train.py --fold 1/5", "training finished"], False),
        (["trial 7 of 10", "training finished"], False),
        (["fold 1 of 1", "training finished"], False),
        (["bucket 1/5", "training finished"], False),
        (["[1/3] pretrain", "training finished"], True),
        (["[1/3] load data", "training finished", "[2/3] save"], False),
        (["[1/3] load data", "training finished"], False),
        (["this is fold 1 of 5 (one job per fold)", "training finished"], False),
        (["fold 1/5", "training finished", "$ train.py --fold 1 --n-folds 5"], False),
        (["fold 1/5", "training finished", "$ train.py --n-folds 5"], True),
        (["seed 1 of 3", "training finished", "SLURM_ARRAY_TASK_ID=1"], False),
    ],
)
def test_the_first_of_several_trainings_promises_others(texts, promised):
    lines = told(*texts)
    assert others_are_promised(lines[1], lines, (), that_count(lines)) is promised


def test_a_wrapper_speaks_for_more_than_the_first_of_several():
    lines = told("trial 1 of 10", "training finished", "RESULT,bert,4382")
    said = Marked("launched_processes_succeeded", "finished", lines[2], "wrapper")
    assert not others_are_promised(lines[1], lines, [said], that_count(lines))


@pytest.mark.parametrize(
    ("headings", "more"),
    [
        (("Epoch 1/3", "Epoch 2/3"), True),
        (("Epoch 1/3", "Epoch 2/3", "== Epoch 3 of 3 =="), False),
        (("Epoch 0/2", "Epoch 1/2"), False),
        (("Epoch 1/3: loss 2.1",), False),
        (("эпоха 2 из 6",), True),
        (("Epoch 2/40", "EarlyStopping triggered"), False),
    ],
)
def test_headings_of_epochs_tell_that_others_are_to_come(headings, more):
    assert epochs_are_to_come(0, told(*headings)) is more
