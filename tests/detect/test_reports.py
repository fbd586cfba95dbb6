"""What a batch system tells of the whole job above its output was written when the job was over."""

import io
from datetime import UTC, datetime, timedelta

import pytest

from app import pipeline
from app.model import Diagnosis
from tests.own_rules import COMPILED

_BEGAN = datetime(2026, 3, 2, 8, 1, tzinfo=UTC)
_ENDED = _BEGAN + timedelta(seconds=20 * 60)
_LIMIT = "TERM_RUNLIMIT: job killed after reaching LSF run time limit.\nExited with exit code 130."
_OWNER = "TERM_OWNER: job killed by owner.\nExited by signal 2."
_DONE = "Successfully completed."
_KEY_ERROR = """\
Traceback (most recent call last):
  File "/home/kim/train.py", line 88, in step
    ids = batch["token_ids"]
KeyError: 'token_ids'
"""
_WRECKAGE = """\
Traceback (most recent call last):
  File "/home/kim/train.py", line 90, in step
    work.wait()
RuntimeError: cannot schedule new futures after shutdown
"""


def report(said: str, ended: datetime = _ENDED, output: str = "follows:") -> str:
    return f"""\
Sender: LSF System <lsfadmin@gx-14>
Subject: Job 8812: <lm-sft> in cluster <birch> Exited

Terminated at {ended:%a %b %d %H:%M:%S %Y}

{said}

The output (if any) {output}

"""


def steps(began: datetime = _BEGAN, count: int = 60) -> str:
    return "".join(
        f"{began + timedelta(seconds=20 * n):%Y-%m-%d %H:%M:%S} "
        f"INFO step {n}/3000 loss 2.{9000 - n}\n"
        for n in range(1, count)
    )


def said_of(text: str) -> Diagnosis:
    return pipeline.diagnose([io.BytesIO(text.encode())], COMPILED)


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (_LIMIT, "TimeLimitExceeded"),
        (_OWNER, "Cancelled"),
        ("TERM_PREEMPT: job killed after preemption.", "Preempted"),
        ("TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.", "HostOutOfMemory"),
    ],
)
@pytest.mark.parametrize("behind", ["", _WRECKAGE])
def test_the_report_above_the_output_goes_before_what_the_kill_left(
    said: str, cause: str, behind: str
) -> None:
    found = said_of(report(said) + steps() + behind)
    assert found.verdict.primary.cause == cause
    assert found.verdict.primary.first_seen
    assert found.verdict.primary.first_seen.line == 6  # its own line, though it came last


def test_a_launcher_that_starts_the_job_again_does_not_part_it_from_its_report() -> None:
    again = "[entrypoint] 2026-03-02T08:11:00Z attempt=1 WORLD_SIZE=4\n"
    later = steps(_BEGAN + timedelta(minutes=10), 30)
    found = said_of(report(_OWNER) + steps(count=30) + _KEY_ERROR + again + later)
    assert found.verdict.primary.cause == "Cancelled"


def test_a_bug_of_hours_before_is_not_the_wreckage_of_the_time_limit() -> None:
    late = _ENDED + timedelta(hours=20)
    waits = f"{_ENDED:%Y-%m-%d %H:%M:%S} WARNING rank 3 does not answer\n"
    found = said_of(report(_LIMIT, late) + steps() + _KEY_ERROR + waits)
    assert found.verdict.primary.cause == "KeyError"


def test_the_report_of_each_job_in_a_file_begins_a_run() -> None:
    later = _ENDED + timedelta(hours=4)
    second = report(_OWNER, later + timedelta(minutes=20)) + steps(later)
    found = said_of(report(_LIMIT) + steps() + second)
    assert found.verdict.primary.cause == "Cancelled"
    assert [attempt.cause for attempt in found.attempts] == ["TimeLimitExceeded"]


def test_a_report_below_the_output_stays_where_it_stands() -> None:
    below = report(_OWNER, output="is above this job summary.")
    assert said_of(steps() + below).verdict.primary.cause == "Cancelled"


@pytest.mark.parametrize("behind", ["", "train.sh: line 7: 313 Killed     python train.py\n"])
def test_that_the_script_left_with_code_0_is_no_end_of_training(behind: str) -> None:
    assert said_of(report(_DONE) + steps() + behind).verdict.primary.cause == "Unknown"
