"""Waits for a first step, and behind the last one."""

import re

import pytest

from app.detect.silence import clocked
from app.detect.waited import last_said, waits_for_a_first_step
from app.model import Point
from tests.detect.training_runs import START, line

WORK = re.compile("saving", re.IGNORECASE)
LAST = Point(0, 5, "train", step=50, total_steps=50)


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("hb up={}m step=0/120000 alive=16", True),
        ('{{"beat": {}, "global_step": 0}}', True),
        ("waiting {} min, iter 0", True),
        ("step 0.{} of the plan", False),
        ("beat {} step=40", False),
    ],
)
def test_a_heartbeat_tells_of_step_zero(text, waits):
    lines = [line(n, text.format(n), time=START + 60 * n) for n in range(1, 9)]
    assert waits_for_a_first_step(clocked(lines)) is waits


@pytest.mark.parametrize(
    ("said", "hangs"),
    [
        ("Saving checkpoint. This may take some time.", True),
        ("Saving checkpoint: done", False),
        ("goodbye", False),
    ],
)
def test_work_that_was_begun_behind_the_last_step_and_never_done(said, hangs):
    beats = [line(n, f"monitor: gpu {n} %") for n in range(7, 17)]
    assert last_said(LAST, [line(6, said), *beats], WORK) is hangs
