"""A real Slurm reports how its jobs end, and each end gets its name.

Real are the daemons, the states they give, both hooks, preemption, the time limit, the limit of
memory (that slurmd enforces by polling, without cgroups) and the outage of the service. A node that
fails is one that an administrator sets down; its job gets NODE_FAIL all the same.
"""

import base64
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.senders import slurm as write_sender
from tests.api.server import REAL, Server
from tests.api.server import running as service
from tests.slurm.cluster import Cluster, free_port, running, why_not
from tests.waiting import until

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

_SECRET = "whsec_" + base64.b64encode(b"s" * 24).decode()
_TRAINS = "import time\nprint('step 10 loss 2.31', flush=True)\n"
_WAITS = f"{_TRAINS}time.sleep(120)\n"
_FAILS = f"{_TRAINS}raise KeyError('learning_rate')\n"
_TASKS = f"{_TRAINS}import os\nif os.environ['SLURM_ARRAY_TASK_ID'] == '4': [][7]\n"
_GROWS = f"{_TRAINS}held = [b'x' * (20 << 20) for _ in range(100) if not time.sleep(0.2)]\n"
_ASKS = "--comment=firstfault job_type=pretrain checkpoint_dir=/ckpt/7b"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name, as sockets need, that munged trusts."""
    at = Path(tempfile.mkdtemp(prefix="slurm", dir="/tmp"))
    at.chmod(0o755)
    yield at
    shutil.rmtree(at)


def _sender(folder: Path, name: str, port: int, partitions: str) -> Path:
    program = folder / name / "firstfault-sender"
    program.parent.mkdir()
    write_sender(program)
    secret = folder / name / "secret"
    secret.touch(0o400)
    secret.write_text(f"{_SECRET}\n")
    program.with_suffix(".ini").write_text(
        f"[service]\nurl = http://127.0.0.1:{port}\nsecret_file = {secret}\n"
        f"spool = {folder / name / 'spool'}\n"
        f"[slurm]\ncluster = testbed\npartitions = {partitions}\n"
        f"slurm_conf = {folder / 'slurm.conf'}\n"
    )
    return program


def _run_jobs(slurm: Cluster) -> dict[str, str]:
    """Run jobs that end in each way; give their numbers by name."""
    jobs = {
        "preempted": slurm.submit("preempted", _WAITS, "-w", "n2", "--exclusive", "--requeue"),
        "limited": slurm.submit("limited", _WAITS, "-w", "n1", "-t", "10"),
        "stopped": slurm.submit("stopped", _WAITS, "-w", "n1", "-o", "%x-%6j.out"),
        "stopped late": slurm.submit("stopped_late", _WAITS, "-w", "n1", "-p", "late"),
        "grows": slurm.submit("grows", _GROWS, "-w", "n1", "--mem=60"),
        "ends": slurm.submit("ends well", _TRAINS, "-w", "n1", "--gres=gpu:2", _ASKS),
        "fails": slurm.submit("fails", _FAILS, "-w", "n1", "-o", "%x.out", "-e", "%x%%.err"),
        "fails late": slurm.submit("fails_late", _FAILS, "-w", "n1", "-p", "late", "-o", "%x-%j"),
        "tasks": slurm.submit("tasks", _TASKS, "-w", "n1", "--array=3-4"),
    }
    slurm.run("srun", "-n1", "-w", "n1", "true")  # has no log, and is not reported
    waiting = ("preempted", "limited", "stopped", "stopped late")
    until(lambda: all(slurm.is_running(jobs[name]) for name in waiting), 30, "running jobs")
    slurm.run("scontrol", "update", f"JobId={jobs['limited']}", "EndTime=now+2")
    slurm.run("scancel", jobs["stopped"], jobs["stopped late"])
    slurm.submit("preempts", _TRAINS, "-p", "high", "-w", "n2", "--exclusive")
    until(lambda: slurm.state(jobs["preempted"]) == "PENDING", 30, "preemption")
    slurm.run("scancel", jobs["preempted"])  # while it waits for its next turn
    script = str(slurm.at / "fails.sh")
    jobs["parts"] = slurm.run(
        "sbatch", "--parsable", "-J", "parts", "-n1", "-w", "n1", ":", "-n1", "-w", "n2", script
    )
    until(lambda: not slurm.run("squeue", "-h", "-j", jobs["parts"], "-t", "PD,R,CG"), 40, "parts")
    jobs["lost"] = slurm.submit("lost", _WAITS, "-w", "n2", "--no-requeue")
    until(lambda: slurm.is_running(jobs["lost"]), 30, "the job on the node that fails")
    slurm.run("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=test")
    return jobs


def _diagnosed(server: Server, count: int) -> dict[str, dict]:
    """Wait until so many diagnoses have ended; give the answers by job."""
    with server.client() as client:

        def ended() -> bool:
            items = client.get("/v1/diagnoses", params={"limit": 200}).json()["items"]
            states = [item["status"] for item in items]
            return len(states) >= count and set(states) <= {"complete", "failed"}

        until(ended, 90, f"{count} diagnoses")
        items = client.get("/v1/diagnoses", params={"limit": 200}).json()["items"]
        answers = [client.get(f"/v1/diagnoses/{item['id']}").json() for item in items]
    assert len({answer["job"]["job_id"] for answer in answers}) == len(answers)
    return {answer["job"]["job_id"]: answer for answer in answers}


def test_each_end_of_a_job_is_reported_and_gets_its_name(folder: Path) -> None:
    port = free_port()
    hooks = [
        _sender(folder, name, port, partitions)
        for name, partitions in (("jobcomp", "low h*"), ("epilog", "late"))
    ]
    with running(folder, *hooks) as slurm:
        jobs = _run_jobs(slurm)  # with nobody listening at the port
        expected = {
            jobs["preempted"]: ("PREEMPTED", "Preempted"),
            jobs["limited"]: ("TIMEOUT", "TimeLimitExceeded"),
            jobs["stopped"]: ("CANCELLED", "Cancelled"),
            jobs["stopped late"]: ("CANCELLED", "Cancelled"),
            jobs["grows"]: ("FAILED", "HostOutOfMemory"),
            jobs["ends"]: ("COMPLETED", "Completed"),
            jobs["fails"]: ("FAILED", "KeyError"),
            jobs["fails late"]: ("FAILED", "KeyError"),
            f"{jobs['tasks']}_3": ("COMPLETED", "Completed"),
            f"{jobs['tasks']}_4": ("FAILED", "IndexError"),
            jobs["parts"]: ("FAILED", "KeyError"),
            jobs["lost"]: ("NODE_FAIL", "NodeFailure"),
        }
        chosen = {
            "port": port, "webhook_secrets": _SECRET, "log_roots": slurm.logs,
            "quiet_log_seconds": 1, "late_log_seconds": 0, "memory": "no",
        }  # fmt: skip
        with service(folder / "service", program=REAL, **chosen) as server:
            found = _diagnosed(server, len(expected) + 1)
            for hook in hooks:
                until(lambda at=hook: not _waiting(at), 30, f"sending of {hook.parent.name}")
    told = {id: (answer["job"]["state"], _cause(answer)) for id, answer in found.items()}
    assert {id: told.get(id) for id in expected} == expected
    (other,) = set(found) - set(expected)
    assert found[other]["job"]["name"] == "preempts"
    _check_details(jobs, found)


def _check_details(jobs: dict[str, str], found: dict[str, dict]) -> None:
    job = found[jobs["ends"]]["job"]
    assert (job["name"], job["cluster"], job["user"]) == ("ends well", "testbed", "root")
    assert (job["job_type"], job["checkpoint_dir"]) == ("pretrain", "/ckpt/7b")
    assert (job["attempt"], job["exit_code"], job["gpus"]) == (0, 0, 2)
    assert job["nodes"] == ["n1"]
    assert job["ended_at"] >= job["started_at"]
    assert found[jobs["parts"]]["job"]["nodes"] == ["n1", "n2"]
    assert found[jobs["preempted"]]["job"]["attempt"] == 0
    assert found[jobs["fails"]]["job"]["exit_code"] == 1
    assert found[jobs["grows"]]["job"]["signal"] == 9
    # what the log of these says is of no use; the state stands as evidence
    for name in ("preempted", "limited", "lost"):
        answer = found[jobs[name]]
        texts = [line["text"] for line in answer["evidence"]]
        assert any(answer["job"]["state"] in text for text in texts) or "JOB" in texts[0], texts


def _cause(answer: dict) -> str:
    return answer["primary"]["cause"] if answer["primary"] else str(answer.get("error"))


def _waiting(hook: Path) -> list[str]:
    folders = (hook.parent / "spool" / name for name in ("noted", "ready", "refused"))
    return [name for at in folders if at.is_dir() for name in os.listdir(at)]
