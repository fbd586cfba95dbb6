"""Signs that a program is done, several together."""

from dataclasses import replace

import pytest

from app.detect.closing import is_cut_short, trains_again_behind
from app.detect.ending import ending
from app.model import Marked
from tests.detect.training_runs import line, losses, run

STEPS = run(losses(40))
WRITTEN = line(50, "results written to out/run.json")
TOOK = line(51, "total time 0:41:12")


def sign(at, mark="result_written", grade="sign"):
    return Marked(mark, "finished", at, grade)


TWO = [sign(WRITTEN), sign(TOOK, "duration_told")]


def test_two_different_signs_at_the_end_of_a_log_are_a_hint():
    end = ending(TWO, STEPS, [WRITTEN, TOOK])
    assert (end.finished, end.line, end.too) == ("hint", TOOK, WRITTEN)


@pytest.mark.parametrize(
    "marks",
    [
        pytest.param([sign(WRITTEN)], id="one sign"),
        pytest.param([sign(WRITTEN), sign(TOOK)], id="two of one kind"),
        pytest.param([sign(WRITTEN), sign(WRITTEN, "farewell")], id="two on one line"),
        pytest.param([sign(WRITTEN), sign(line(20, "took"), "duration_told")], id="steps between"),
        pytest.param(
            [*TWO, *(sign(line(52 + n, f"total time {n}"), "duration_told") for n in range(3))][1:],
            id="routine",
        ),
        pytest.param([*TWO, Marked("a", "failed", line(60, "rc 1"))], id="a launcher objects"),
    ],
)
def test_what_is_not_enough(marks):
    assert ending(marks, STEPS, [m.line for m in marks]).finished is None


def test_steps_to_go_take_the_signs_away():
    assert ending(TWO, run(losses(40), total=900), [WRITTEN, TOOK]).finished is None


def test_epochs_to_come_take_the_signs_away():
    heading = line(2, "Epoch 2/8")
    assert ending(TWO, STEPS, [heading, WRITTEN, TOOK]).finished is None


@pytest.mark.parametrize(
    "behind",
    [
        "upload of the archive failed",
        "caught SIGTERM, leaving",
        "child exited with code 3",
        "node was preempted",
    ],
)
def test_words_of_a_failure_behind_the_signs_take_them_away(behind):
    assert ending(TWO, STEPS, [WRITTEN, TOOK, line(52, behind)]).finished is None


@pytest.mark.parametrize("behind", ["0 failed", "finished without errors", "errors: 0"])
def test_words_of_no_failure_leave_them(behind):
    assert ending(TWO, STEPS, [WRITTEN, TOOK, line(52, behind)]).finished == "hint"


def test_signs_with_much_else_behind_them_were_about_something_else():
    words = [
        "oak",
        "elm",
        "ash",
        "fir",
        "yew",
        "bay",
        "fig",
        "box",
        "sloe",
        "pine",
        "plum",
        "pear",
        "palm",
        "lime",
    ]
    rest = [line(60 + n, f"planting {word}") for n, word in enumerate(words)]
    assert ending(TWO, STEPS, [WRITTEN, TOOK, *rest]).finished is None


def test_a_hint_far_before_the_end_is_none():
    said = sign(line(50, "done"), "looks_like_the_end", "hint")
    rest = [line(60 + n, "word " + "ab" * n) for n in range(60)]
    assert ending([said], STEPS, [said.line]).finished == "hint"
    assert ending([said], STEPS, [said.line, *rest]).finished is None


def test_what_ends_a_part_alone_counts_only_as_the_last_words_of_a_log_that_trains_nothing():
    parts = [sign(WRITTEN, grade="stage"), sign(TOOK, "evaluated", grade="stage")]
    unnamed = [replace(point, loss=None) for point in STEPS]
    assert ending(parts, unnamed, [WRITTEN, TOOK]).finished == "hint"
    assert ending(parts, STEPS, [WRITTEN, TOOK]).finished is None
    assert ending(parts, unnamed, [WRITTEN, TOOK, line(52, "part 2")]).finished is None


@pytest.mark.parametrize(
    "behind", ["starting part 2", "loading 40 shards", "rank 3 died", "开始训练: 8 卡", "评估失败"]
)
def test_a_hint_behind_which_work_goes_on_or_goes_wrong_is_none(behind):
    said = sign(line(50, "export completed"), "work_said_to_be_done", "hint")
    assert ending([said], STEPS, [said.line, line(51, behind)]).finished is None


@pytest.mark.parametrize(
    "behind", ["waiting for loading threads to finish", "[W313 17:16:01 a.cpp:16] peer terminated"]
)
def test_taking_leave_behind_a_hint_does_not_take_it_away(behind):
    said = sign(line(50, "export completed"), "work_said_to_be_done", "hint")
    assert ending([said], STEPS, [said.line, line(51, behind)]).finished == "hint"


def test_training_that_begins_again_in_the_same_words_takes_the_word_back():
    first, word = line(2, "=== begin fine-tuning of part 1 ==="), line(50, "fine-tuning finished")
    again = line(52, "=== begin fine-tuning of part 2 ===")
    told = [Marked("word", "finished", word, "trainer")]
    assert ending(told, STEPS, [first, word, again]).finished is None
    late = [Marked("word", "finished", line(60, "fine-tuning finished"), "trainer")]
    assert ending([*told, *late], STEPS, [first, word, again, late[0].line]).finished == "trainer"


def test_a_beginning_that_is_said_once_may_stand_at_a_wrong_place():
    word, start = line(50, "fine-tuning finished"), line(52, "starting training ...")
    told = [Marked("word", "finished", word, "trainer")]
    assert ending(told, STEPS, [word, start]).finished == "trainer"


@pytest.mark.parametrize(("code", "finished"), [("137", None), ("-6", "trainer"), ("0", "trainer")])
def test_a_kill_behind_a_word_takes_it_back_and_a_crash_on_leaving_does_not(code, finished):
    word = line(50, "training finished")
    told = [
        Marked("word", "finished", word, "trainer"),
        Marked("exit", "exit", line(53, f"ended with {code}"), facts={"code": code}),
    ]
    assert ending(told, [], [word]).finished == finished


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("training the final model with lr=0.0003", None),
        ("refitting the best configuration", None),
        ("trained the final model", "trainer"),
    ],
)
def test_a_last_model_may_be_trained_behind_a_word(text, finished):
    word, behind = line(50, "search finished"), line(52, text)
    told = [Marked("word", "finished", word, "trainer")]
    assert ending(told, STEPS, [word, behind]).finished == finished


@pytest.mark.parametrize(
    ("texts", "short"),
    [
        (["saving final model (shard 2/12)"], True),
        (["saving the final model", "  writing optimizer state, shard 3 of 16"], True),
        (["saving the final model", "shard 1/2 written", "shard 2/2 written"], False),
        (["saving the final model", "shard 0/2", "shard 1/2"], False),
        (["saving the final model", "12 of 16 metrics went up"], False),
    ],
)
def test_files_that_were_left_cut_a_word_short(texts, short):
    lines = [line(number, text) for number, text in enumerate(texts, 1)]
    assert is_cut_short(lines[0], lines) is short


@pytest.mark.parametrize(
    ("before", "behind", "again"),
    [
        ("running stage align", ["running stage sft"], True),
        ("[main] Starting fold A", ["[main] Starting fold B", "building the model"], True),
        ("running stage align", ["running stage export", "export finished"], False),
        ("Training A: 200 steps", ["Training B: 200 steps"], True),
        ("== part I of the training", ["== part II of the training", "opening shards"], True),
        ("model 1", ["model 1: 0.81", "model 2: 0.83"], False),
        ("model 1", ["model 2", "model 2 is done"], False),
        ("reading", ["model 2"], False),
        ("reading the data", ["running stage export"], False),
        ("running stage align", ["stage align took 3 h"], False),
    ],
)
def test_one_training_more_begins_as_one_did_before(before, behind, again):
    lines = [line(n, text) for n, text in enumerate([before, "training done", *behind], 1)]
    assert trains_again_behind(lines[1], lines) is again


IGNORED = """Exception ignored in: <function Pool.__del__ at 0x7f2>
Traceback (most recent call last):
  File "/w/pool.py", line 9, in __del__
    self.stream.close()
AttributeError: 'Pool' object has no attribute 'stream'"""


@pytest.mark.parametrize(("more", "ended"), [([], True), (["upload failed"], False)])
def test_an_object_that_goes_while_all_is_torn_down_spoils_no_end(more, ended):
    behind = [line(60 + n, text) for n, text in enumerate([*IGNORED.split("\n"), *more])]
    done = Marked("done", "finished", line(50, "Done."), "hint")
    assert (ending([done], STEPS, [done.line, *behind]).finished == "hint") is ended
