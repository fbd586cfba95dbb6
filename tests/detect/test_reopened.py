"""Files that begin again behind an end."""

import pytest

from app.detect.reopened import reopened_runs
from app.model import Compressed, Marked, Point
from tests.detect.training_runs import line

HEAD = ["loading the settings of run 7", "42 layers of 1024 units", "reading shards from /data/b"]
STEPS = [f"working on batch {n}" for n in range(60)]


def begin(texts, end, trained=(), grade="trainer"):
    """Give where a log with these lines begins again, if a word stands in line `end`."""
    lines = tuple(line(number, text) for number, text in enumerate(texts, 1))
    word = Marked("done", "finished", lines[end - 1], grade)
    points = tuple(Point(0, number, "step #", step=number) for number in trained)
    return reopened_runs(Compressed((), lines, (), points), [word])


def test_three_lines_of_the_head_come_again():
    texts = [*HEAD, *STEPS, "training is done", *HEAD]
    assert begin(texts, 64) == {0: [65]}


def test_two_of_them_are_read_when_a_model_is_saved():
    assert begin([*HEAD, *STEPS, "training is done", *HEAD[:2], "saved to out"], 64) == {}


def test_what_comes_again_before_the_end_is_no_beginning():
    assert begin([*HEAD, *STEPS, *HEAD, "training is done", *HEAD], 67) == {}


def test_ranks_open_one_after_another():
    texts = [*HEAD, *HEAD, *STEPS, "training is done", *HEAD]
    assert begin(texts, 67) == {0: [68]}


def test_a_head_of_one_kind_of_line_tells_nothing():
    assert begin([*STEPS, "training is done", *STEPS], 61) == {}


def test_rounds_of_a_few_lines_are_no_runs():
    assert begin([*HEAD, "training is done"] * 20, 4) == {}


@pytest.mark.parametrize(
    ("trained", "grade", "begins"),
    [([4, 5], "trainer", {0: [7]}), ([], "trainer", {}), ([4, 5], "hint", {})],
)
def test_a_short_run_that_trained_and_plainly_ended_is_followed_by_another(trained, grade, begins):
    texts = [*HEAD, "step 1", "step 2", "training is done", *HEAD]
    assert begin(texts, 6, trained, grade) == begins


def test_a_model_that_is_judged_is_loaded_as_it_was_at_first():
    texts = [*HEAD, "step 1", "step 2", "training is done", *HEAD, "accuracy of the test 0.8"]
    assert begin(texts, 6, [4, 5]) == {}
    assert begin([*texts, "step 1"], 6, [4, 5, 11]) == {0: [7]}


@pytest.mark.parametrize(
    ("last", "begins"),
    [
        ("the settings: 90000 steps", {0: [5]}),
        ("the settings: 50 steps", {}),
        ("the settings of the test", {}),
    ],
)
def test_the_first_line_comes_again_with_the_numbers_of_another_run(last, begins):
    texts = ["the settings: 50 steps", "step 1", "step 2", "training is done", last, "reading data"]
    assert begin(texts, 4, [2, 3]) == begins


def test_a_line_of_a_hundred_thousand_letters_is_compared_at_once():
    head = [f"{'a' * 100_000} of run 7", *HEAD[1:]]
    assert begin([*head, *STEPS, "training is done", *head], 64) == {0: [65]}
