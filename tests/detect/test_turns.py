"""Trainings in turn that end in the same words."""

from dataclasses import replace

import pytest

from app.detect.turns import turn_of, with_turns
from app.model import Ending, Marked, Point
from tests.detect.training_runs import line

DONE = "Training complete."


def written(*texts):
    """The lines of a log, its end marks and its readings."""
    lines = [line(number, text) for number, text in enumerate(texts, 1)]
    marks = [Marked("done", "finished", one, "trainer") for one in lines if one.text == DONE]
    points = [
        Point(0, one.number, "step #", step=int(one.text.split()[1]), loss=2.0)
        for one in lines
        if one.text.startswith("step ")
    ]
    return lines, marks, points


def turn(*texts):
    lines, marks, points = written(*texts)
    return turn_of(marks[-1].line, marks, points, lines)


def each(*headings):
    return [text for one in headings for text in (one, "step 1", "step 2", DONE)]


@pytest.mark.parametrize(
    "heading",
    [
        "[{}/3] some training",
        "Pipeline step {}/3: x",
        "Language: de ({}/3)",
        ">>> Stage {}: projector (of 3)",
        "第 {} 折，共 3 折",
        "Modèle {} sur 3",
    ],
)
def test_a_count_before_each_end_tells_which_one_it_is(heading):
    headings = [heading.format(n) for n in (1, 2, 3)]
    assert turn(*each(*headings[:2])) == "other"
    assert turn(*each(*headings[:2]), headings[2]) == "other"
    assert turn(*each(*headings)) == "last"


def test_where_the_next_but_not_the_last_has_begun_the_job_is_in_between():
    assert turn(*each("[1/3] reward model"), "[2/3] PPO", "loading the policy") == "other"
    assert turn(*each("[1/2] training"), "[2/2] evaluation") is None
    assert turn("[1/4] data", *each("[2/4] training"), "[3/4] evaluation") == "other"


def test_a_count_behind_each_end_tells_how_many_were_made():
    rounds = [[*each("rule train:"), f"{n} of 3 steps done"] for n in (1, 2, 3)]
    assert turn(*rounds[0], *rounds[1]) == "other"
    assert turn(*rounds[0], *rounds[1], *rounds[2]) == "last"


def test_jobs_that_were_announced_are_counted_by_their_numbers():
    jobs = ["[HYDRA] Launching 2 jobs locally", *each("[HYDRA] \t#0 : lr=1"), "[HYDRA] \t#1 : lr=2"]
    assert turn(*jobs) is None
    assert turn(*jobs, "step 1", DONE) == "last"


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(["[1/4] data", "[2/4] model", *each("[3/4] train")], id="parts of one"),
        pytest.param(["[1/4] a", "step 1", "[2/4] b", "step 2", DONE], id="one end"),
        pytest.param([*each("[2/4] a"), *each("[1/4] b")], id="goes down"),
        pytest.param([*each("[2/4] a"), *each("[3/4] b")], id="does not begin at one"),
        pytest.param(["[1/2] a", DONE, "[2/2] b", DONE], id="nothing was trained"),
        pytest.param([*each("2026/01/30"), *each("2026/02/30")], id="dates"),
    ],
)
def test_what_does_not_go_with_the_ends_counts_no_trainings(texts):
    assert turn(*texts) is None


def test_the_word_of_another_one_is_taken_back_and_that_of_the_last_given_back():
    lines, marks, points = written(*each("[1/3] a", "[2/3] b"))
    end = Ending("trainer", marks[-1].line)
    assert with_turns(end, marks, points, lines) == Ending()
    lines, marks, points = written(*each("[1/2] a", "[2/2] b"))
    assert with_turns(Ending(), marks, points, lines) == Ending("hint", marks[-1].line)
    more = [*lines, line(99, "Refitting the model on all data")]
    assert with_turns(Ending(), marks, points, more) == Ending()
    more = [*lines, line(99, "writing optimizer state, shard 3 of 16")]
    assert with_turns(Ending(), marks, points, more) == Ending()
    short = [replace(point, total_steps=9) for point in points]
    assert with_turns(Ending(), marks, short, lines) == Ending()
    failed = Ending(failed=lines[0])
    assert with_turns(failed, marks, points, lines) == failed
