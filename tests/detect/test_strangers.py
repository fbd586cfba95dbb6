"""What a scheduler or a kernel tells of another job is not of this one."""

from dataclasses import replace

import pytest

from app.detect.strangers import as_told, of_others, unheard_of
from app.model import Marked, Sighting
from tests.small_rules import a_line


def seen(text: str, number: int = 1, **facts: str) -> Sighting:
    return Sighting("preempted", a_line(number, text=text), "proof", facts)


def jobs(*numbers: str) -> list[Marked]:
    return [Marked("number", "job", a_line(), facts={"job": number}) for number in numbers]


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
        ("oom-kill: oom_memcg=/slurm/job_91,task_memcg=/slurm/uid_1/job_88/step_0,pid=7", False),
        ("oom-kill: task_memcg=/slurm/uid_1/job_91/step_0,pid=7", True),
        ("the job was preempted", True),
    ],
)
def test_what_names_another_job_first_is_struck(text: str, *, is_ours: bool) -> None:
    sighting = seen(text)
    assert as_told(sighting, of_others([sighting], jobs("91"))).stands is is_ours


def test_what_the_kernel_tells_of_the_same_process_goes_with_it() -> None:
    group = seen("oom-kill: task_memcg=/slurm/uid_1/job_88/step_0,pid=7", 1, pid="7")
    killed, ours = seen("Killed process 7 (R)", 2, pid="7"), seen("Killed process 8", 3, pid="8")
    assert of_others([group, killed, ours], jobs("91")) == {(0, 1), (0, 2)}


def test_a_process_of_another_host_may_have_the_same_number() -> None:
    group = seen("oom-kill: task_memcg=/slurm/uid_1/job_88/step_0,pid=7", 1, pid="7")
    ours = seen("Killed process 7 (python)", 2, pid="7")
    ours = replace(ours, line=replace(ours.line, host="gn-2"))
    assert of_others([group, ours], jobs("91")) == {(0, 1)}


@pytest.mark.parametrize("numbers", [(), tuple("abcdefg")])
def test_where_no_number_is_known_or_too_many_are_all_stands(numbers: tuple[str, ...]) -> None:
    assert not of_others([seen("preempted JobId=88 has been requeued")], jobs(*numbers))


@pytest.mark.parametrize(
    ("named", "is_ours"),
    [
        ("+ gcloud compute tpus tpu-vm ssh lm-v4-64 --worker=all", True),
        ("lm-v4-64: step 10 loss 2.1", True),
        ("+ gcloud compute tpus tpu-vm ssh lm-v4-64-b --worker=all", False),
        ("other-lm-v4-64: step 10 loss 2.1", False),
    ],
)
def test_an_object_in_a_table_counts_where_its_name_is_heard(named: str, *, is_ours: bool) -> None:
    row = seen("lm-v4-64  us-central2-b  v4-64  PREEMPTED", 2, listed="lm-v4-64")
    lines = [a_line(1, text=named), row.line]
    assert as_told(row, unheard_of([row], lines)).stands is is_ours
