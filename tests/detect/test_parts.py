"""Words and counters of one part of a job."""

import pytest

from app.detect.ending import ending
from app.detect.parts import speaks_for_a_part
from app.model import Marked
from tests.detect.training_runs import at, line, losses, run

DONE = line(50, "[lm] training done.")
LM = at(run(losses(20), total=200), text="[lm] step 200/200 loss 2.1")
VOICE = at(run(losses(20), series="voice #", total=900), text="[voice] step 200/900 loss 1.4")


def test_another_part_has_steps_to_go():
    assert speaks_for_a_part(DONE, LM + VOICE, [])
    assert not speaks_for_a_part(DONE, LM + at(VOICE, total_steps=200), [])
    assert not speaks_for_a_part(DONE, LM, [])


@pytest.mark.parametrize(
    ("behind", "spoilt"),
    [
        ("[voice] left with exit code 3", True),
        ("launcher: voice rc=3", True),
        ("[lm] left with exit code 3", False),
        ("[voice] left with exit code 0", False),
        ("[voice] step 12 of 30", False),
    ],
)
def test_another_part_failed(behind, spoilt):
    assert speaks_for_a_part(DONE, LM, [line(60, behind)]) is spoilt


@pytest.mark.parametrize("text", ["[INFO] training done.", "trainer: done", "training done."])
def test_who_names_no_part_speaks_for_all(text):
    assert not speaks_for_a_part(line(50, text), LM + VOICE, [line(60, "exit code 3")])


def test_neither_word_nor_counter_of_a_part_ends_the_job():
    word = Marked("done", "finished", DONE, "trainer")
    assert ending([word], VOICE + LM).finished is None
    assert ending([word], LM).finished == "trainer"
