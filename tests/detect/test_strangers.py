"""What a scheduler tells of another job is not of this one."""

from dataclasses import replace

import pytest

from app.detect.strangers import as_told, own_jobs
from app.model import Marked, Sighting
from tests.small_rules import a_line


def stands(text: str, *own: str) -> bool:
    return as_told(Sighting("preempted", a_line(text=text), "proof", {}), own).stands


@pytest.mark.parametrize(
    ("text", "is_ours"),
    [
        (
            "slurmctld: preempted JobId=88 has been requeued to reclaim resources for JobId=91",
            False,
        ),
        ("slurmctld: preempted JobId=91 has been requeued to reclaim resources for JobId=99", True),
        ("slurmctld: preempted JobId=70_3(91) has been requeued", True),
        ("oom_kill event in StepId=70.batch", False),
        ("the job was preempted", True),
    ],
)
def test_what_names_another_job_first_is_struck(text: str, *, is_ours: bool) -> None:
    assert stands(text, "91") is is_ours


def test_where_no_number_is_known_all_stands() -> None:
    assert stands("slurmctld: preempted JobId=88 has been requeued")


def test_marks_tell_the_numbers_of_the_job() -> None:
    told = Marked("number", "job", a_line(), facts={"job": "91"})
    many = [replace(told, facts={"job": str(number)}) for number in range(9)]
    assert own_jobs(many) == set()
    assert own_jobs([told, Marked("end", "exit", a_line(), facts={"code": "1"})]) == {"91"}
