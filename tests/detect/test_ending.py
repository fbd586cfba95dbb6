"""Words that a job finished, and what takes them back."""

from dataclasses import replace

import pytest

from app.detect.ending import ending
from app.model import Marked
from tests.detect.training_runs import line, losses, run

STEPS = run(losses(40))
COUNTED = run(losses(40), total=400)


def mark(kind, number, grade=None, text="", facts=()):
    return Marked(f"some_{kind}", kind, line(number, text or kind), grade, dict(facts))


def said(grade, number=50):
    return mark("finished", number, grade)


@pytest.mark.parametrize("grade", ["trainer", "wrapper", "hint"])
def test_a_word_after_the_last_step_stands(grade):
    assert ending([said(grade)], STEPS).finished == grade


def test_the_best_word_counts_and_of_equal_ones_the_last():
    end = ending([said("trainer", 50), said("trainer", 51), said("wrapper", 52)], STEPS)
    assert end.finished == "trainer"
    assert end.line is not None
    assert end.line.number == 51


def test_who_says_it_in_other_words_is_heard_too():
    own = replace(said("trainer", 50), mark="own_word")
    end = ending([own, said("trainer", 51), said("trainer", 52)], STEPS)
    assert (end.line, end.too) == (line(52, "finished"), own.line)
    assert ending([said("trainer", 50), said("trainer", 51)], STEPS).too is None


def test_steps_after_a_word_take_it_back():
    assert ending([said("trainer", 20)], STEPS).finished is None


def test_two_more_steps_may_be_late_lines_of_other_ranks():
    assert ending([said("trainer", 38)], STEPS).finished == "trainer"
    assert ending([said("hint", 38)], STEPS).finished is None


def test_a_bar_that_begins_after_the_word_is_of_the_evaluation():
    bar = run([None] * 16, series="bar of 16", line=60)
    assert ending([said("trainer")], STEPS + bar).finished == "trainer"


def test_a_new_start_takes_the_word_back():
    assert ending([said("trainer"), mark("start", 60)], STEPS).finished is None
    links = mark("place", 60, text="n1:2:2 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>")
    assert ending([said("trainer"), links], STEPS).finished is None


def test_links_that_are_taken_down_are_no_start():
    links = mark("place", 60, text="n1:2:2 [0] NCCL INFO comm 0x7f rank 0 Abort COMPLETE")
    assert ending([said("trainer"), links], STEPS).finished == "trainer"


def test_a_launchers_failure_outweighs_a_wrapper_and_not_the_trainer():
    failed = mark("failed", 60)
    assert ending([said("wrapper"), failed], STEPS).finished is None
    end = ending([said("trainer"), failed], STEPS)
    assert end.finished == "trainer"
    assert end.failed is failed.line


def test_a_counter_at_its_total_is_a_hint():
    assert ending([], COUNTED).finished == "hint"
    assert ending([], STEPS).finished is None


def test_something_saved_after_the_last_step_makes_it_a_wrappers_word():
    assert ending([mark("saved", 45)], COUNTED).finished == "wrapper"
    assert ending([said("hint", 45)], COUNTED).finished == "wrapper"
    assert ending([mark("saved", 30)], COUNTED).finished == "hint"


def test_a_counter_says_nothing_beside_a_failure():
    assert ending([mark("saved", 45), mark("failed", 46)], COUNTED).finished is None


@pytest.mark.parametrize("series", ["epoch # bar", "bar of 400 loss"])
def test_a_bar_that_is_drawn_for_each_epoch_counts_no_steps_of_the_run(series):
    assert ending([], run(losses(40), total=400, series=series)).finished is None


def test_a_run_that_goes_on_past_a_counter_is_not_at_its_end():
    more = run(losses(10), total=4000, line=60)
    assert ending([], COUNTED + more).finished is None


def test_a_counter_at_its_total_is_no_end_where_another_program_goes_on():
    more = run(losses(10), series="it=#", line=60)
    assert ending([], COUNTED + more).finished is None
    assert ending([], COUNTED + more[:2]).finished == "hint"


def test_a_hint_that_comes_after_every_epoch_says_nothing_of_the_last():
    each = [
        mark("finished", number, "hint", f"saved best model of epoch {number}")
        for number in (10, 20, 40)
    ]
    assert ending(each, STEPS).finished is None


def test_a_hint_that_comes_once_stands():
    once = [mark("finished", 40, "hint", "saved best model of epoch 40")]
    assert ending(once, STEPS).finished == "hint"


def test_a_hint_falls_where_the_counter_has_steps_to_go():
    assert ending([said("hint")], run(losses(40), total=1000)).finished is None
    assert ending([said("hint")], run(losses(40), total=405)).finished == "wrapper"
    assert ending([said("trainer")], run(losses(40), total=1000)).finished == "trainer"


def test_a_bar_that_began_again_counts_one_epoch_whatever_it_is_called():
    steps = [10, 300, 600, 20, 310, 600]
    drawn = [
        replace(point, step=step, total_steps=600, loss=None)
        for point, step in zip(run([None] * 6, series="bar of 600"), steps, strict=True)
    ]
    evaluated = run([0.4], series="eval bar of 80", line=60)
    assert ending([], drawn + evaluated).finished is None
    assert ending([], drawn[:3] + evaluated).finished == "wrapper"


def test_the_end_of_an_epoch_is_the_end_of_all_only_if_no_other_follows():
    evaluated = run([0.4], series="eval step #", line=60)
    of_some = [replace(point, counts="some epoch") for point in COUNTED]
    assert ending([mark("saved", 50)], of_some + evaluated).finished is None
    assert ending([said("hint")], of_some[:20]).finished is None
    assert ending([said("hint")], of_some).finished == "hint"
    of_first = [replace(point, counts="epoch") for point in COUNTED]
    assert ending([said("hint")], of_first).finished is None
    assert ending([said("trainer")], of_first).finished == "trainer"


def test_a_full_bar_without_any_loss_may_be_of_the_data():
    bar = run([None] * 16, series="bar of 160", total=160)
    assert ending([], bar).finished is None
    assert ending([said("stage")], bar).finished == "wrapper"
    assert ending([], run(losses(16), series="step #") + bar).finished == "hint"


def test_work_that_begins_behind_a_full_counter_takes_its_word_back():
    assert ending([], COUNTED, [line(60, "loading the weights of the teacher")]).finished is None
    assert ending([], COUNTED, [line(60, "average time of a step: 3 s")]).finished == "hint"


def test_a_bar_whose_epochs_are_counted_together_does_not_begin_again():
    first = [replace(p, counts="epoch") for p in run([2.0], series="bar loss", total=10)]
    later = run([1.5, 1.2, 1.0], series="bar loss", total=40, line=2)
    counted = [replace(p, step=p.step + 10, counts="all") for p in later]
    assert ending([], first + counted).finished == "hint"


def test_a_warning_behind_a_full_counter_begins_no_work():
    assert ending([], COUNTED, [line(60, "UserWarning: use x instead of loading y")]).finished


def evaluated(*epochs, of=2, line=60):
    """Evaluations that name their epoch."""
    points = run([None] * len(epochs), total=of, line=line, series="eval epoch #/#")
    return [
        replace(point, step=epoch, counts="epochs")
        for point, epoch in zip(points, epochs, strict=True)
    ]


def test_the_last_epoch_is_evaluated_and_saved():
    points = STEPS + evaluated(1, 2)
    saved = mark("saved", 70)
    assert ending([saved], points).finished == "wrapper"
    assert ending([], points).finished is None
    assert ending([saved], STEPS + evaluated(2)).finished is None
    assert ending([saved], STEPS + evaluated(1, 2, of=3)).finished is None
    onward = run(losses(1), line=65)
    assert ending([saved], points + onward).finished is None


def test_an_evaluation_behind_the_last_step_must_come_to_its_end():
    counted = run(losses(40), total=400)
    bar = run([None] * 11, every=1, total=11, line=60, series="eval bar of 11")
    assert ending([], counted + bar).finished == "hint"
    assert ending([], counted + bar[:2]).finished is None
    assert ending([mark("saved", 70)], counted + bar[:2]).finished == "wrapper"
    assert ending([mark("saved", 50)], counted + bar[:2]).finished is None
