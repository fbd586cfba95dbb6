"""Runs behind a death in the same file, which no line announces, and what only looks like one."""

import pytest

from app.detect.restarted import restarted_runs
from app.model import Compressed, LogFile, Marked, Sighting
from tests.detect.training_runs import at, line, run

DEAD = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-02T03:04:05 ***"


def told(lines, points=(), proofs=(), failures=(), heads=()):
    log = Compressed((LogFile("job.log", 1, 200, 200),), tuple(lines), (), tuple(points))
    shown = {entry.number: entry for entry in lines}
    sightings = [Sighting("some_signal", shown[number], "proof") for number in proofs]
    marks = [Marked("gave_up", "failed", shown[number]) for number in failures]
    return restarted_runs(log, marks, sightings, {0: heads}).get(0, [])


def steps(first_line, first_step, count=6):
    points = run([2.0] * count, line=first_line, every=1)
    return [at([p], step=first_step + place)[0] for place, p in enumerate(points)]


def test_a_counter_that_is_lower_behind_a_death_belongs_to_another_run():
    points = [*steps(1, 100), *steps(10, 103)]
    assert told([line(7, DEAD)], points, proofs=[7]) == [8]
    assert told([line(7, DEAD)], points, failures=[7]) == [8]


def test_usage_texts_of_processes_that_refuse_their_arguments_are_no_beginnings():
    texts = ["usage: fit.py [-h] [--data DATA]", "fit.py: error: unrecognized arguments: --fast"]
    lines = [line(number, texts[number % 2]) for number in range(2, 8)]
    refused = [entry.number for entry in lines if entry.number % 2]
    assert told([line(1, "starting two workers"), *lines], proofs=refused) == []


def test_codes_that_native_code_hands_upwards_are_no_beginnings():
    text = "hall-b:27255:27934 [0] NCCL INFO proxy.cc:698 -> 6"
    lines = [line(1, text), line(2, "hall-b: completion with error 4"), line(3, text)]
    assert told(lines, proofs=[2]) == []


@pytest.mark.parametrize(
    "points",
    [
        pytest.param([*steps(1, 100), *steps(10, 106)], id="it counts on"),
        pytest.param([*steps(1, 100), *steps(10, 103, 2)], id="two readings"),
        pytest.param(
            [*at(steps(1, 100), series="a"), *at(steps(10, 3), series="b")], id="another counter"
        ),
    ],
)
def test_a_counter_that_says_nothing_cuts_nothing(points):
    assert told([line(7, DEAD)], points, proofs=[7]) == []


def test_a_counter_that_falls_while_nothing_died_is_a_rollback():
    assert told([line(20, DEAD)], [*steps(1, 100), *steps(10, 103)], proofs=[20]) == []


def test_the_first_line_of_a_file_that_comes_again_begins_another_run():
    lines = [
        line(1, "run started at 06:00:00 by cron"),
        line(2, "ModuleNotFoundError: No module named 'flash_attn'"),
        line(3, "run started at 07:00:00 by cron"),
        line(4, "FileNotFoundError: config/lm.yaml"),
        line(5, "run started at 08:00:00 by cron"),
        *[line(number, f"step {number}") for number in range(6, 12)],
    ]
    assert told(lines, steps(6, 1), proofs=[2, 4]) == [3, 5]


def test_the_first_line_behind_the_end_of_another_job_counts_as_one():
    lines = [line(number, f"step {number}") for number in range(1, 6)]
    lines += [
        line(6, "training is complete"),
        line(7, "run started at 06:00:00 by cron"),
        line(8, "ModuleNotFoundError: No module named 'flash_attn'"),
        line(9, "run started at 07:00:00 by cron"),
        line(10, "FileNotFoundError: config/lm.yaml"),
    ]
    assert told(lines, steps(1, 1, 5), proofs=[8, 10]) == []
    assert told(lines, steps(1, 1, 5), proofs=[8, 10], heads=[(6, 8)]) == [9]


def test_a_heartbeat_that_stands_first_is_no_beginning():
    lines = [line(n, f"gpu monitor util 9{n % 7}") for n in (1, 3, 9, 12, 14)]
    lines = sorted([*lines, line(11, DEAD)], key=lambda entry: entry.number)
    assert told(lines, steps(4, 1, 4), proofs=[11]) == []


def test_lines_of_several_ranks_are_no_beginnings():
    lines = [line(n, f"worker process {n} is ready", rank=n) for n in (1, 2)]
    lines += [line(3, DEAD), line(4, "worker process 4 is ready", rank=4)]
    assert told(lines, proofs=[3]) == []
