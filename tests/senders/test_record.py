"""What scontrol prints is read, and the names of logs are spelled out as sbatch does it."""

import pytest

from app.senders.record import gpus, records, spelled_out

PRINTED = """\
JobId=9 ArrayJobId=3 ArrayTaskId=4 JobName=sweep lr=3e-4 b
   UserId=ada(1000) GroupId=ada(1000) MCS_label=N/A
   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)
   Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=1:0
   StartTime=1796030286 EndTime=Unknown Deadline=N/A
   NodeList=n[1-2]
   TRES=cpu=8,mem=100M,node=2,billing=8,gres/gpu=16
   WorkDir=/home/ada/a b
   Comment=firstfault job_type=pretrain JobState=COMPLETED
   StdErr=/home/ada/err=1.log
   StdOut=/home/ada/out.log
"""


def test_names_and_paths_may_hold_blanks_and_signs():
    (found,) = records(PRINTED)
    assert found["JobName"] == "sweep lr=3e-4 b"
    assert found["WorkDir"] == "/home/ada/a b"
    assert found["StdErr"] == "/home/ada/err=1.log"
    assert found["Comment"] == "firstfault job_type=pretrain JobState=COMPLETED"
    assert (found["JobState"], found["Restarts"]) == ("FAILED", "2")
    assert "EndTime" not in found


def test_each_part_of_a_heterogeneous_job_has_its_record():
    first, second = records("JobId=1 HetJobId=1 JobName=a\n\nJobId=2 HetJobId=1 JobName=b\n")
    assert (first["JobName"], second["JobId"]) == ("a", "2")


def test_what_is_no_record_gives_none():
    assert list(records("slurm_load_jobs error: Invalid job id specified\n")) == []


@pytest.mark.parametrize(
    ("record", "count"),
    [
        ({"TRES": "cpu=8,gres/gpu=16"}, 16),
        ({"AllocTRES": "cpu=8,gres/gpu=4,gres/gpu:a100=4", "TRES": "gres/gpu=2"}, 4),
        ({"AllocTRES": "gres/gpu:a100=3,gres/gpu:h100=2"}, 5),
        ({"TresPerNode": "gres:gpu:8"}, 16),
        ({"TresPerNode": "gres/gpu:h100:8"}, 16),
        ({"TresPerNode": "gres:gpu:a100:4,gres:nic:2"}, 8),
        ({"TresPerNode": "gres:gpu"}, 2),
        ({"TresPerJob": "gres/gpu:6"}, 6),
        ({"TresPerNode": "gres:nic:2"}, 0),
        ({}, 0),
    ],
)
def test_gpus_are_counted_in_each_spelling(record, count):
    assert gpus(record, nodes=2) == count


@pytest.mark.parametrize(
    ("path", "full"),
    [
        ("/logs/%x-%j.out", "/logs/pre train-48.out"),
        ("slurm-%A_%a.out", "/home/ada/slurm-40_13.out"),
        ("%6j_%3a.%u.%N", "/home/ada/000048_013.ada.n1"),
        ("rank%t-%n-%s-%b.out", "/home/ada/rank0-0-batch-3.out"),
        ("100%%-%q.out", "/home/ada/100%-%q.out"),
        (r"as\%j.out", "/home/ada/as%j.out"),
    ],
)
def test_patterns_are_filled_in_as_sbatch_does(path, full):
    facts = {
        "id": "48", "array": "40", "task": "13", "name": "pre train", "user": "ada",
        "work_dir": "/home/ada", "first_node": "n1.example.org",
    }  # fmt: skip
    assert spelled_out(path, facts) == full


def test_a_job_that_is_no_task_of_an_array_names_its_number():
    assert spelled_out("%A-%a", {"id": "7", "work_dir": "/w"}) == "/w/7-4294967294"
