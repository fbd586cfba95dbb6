"""What the hook makes of its environment; `scontrol` is a script that prints what it is told.

tests/slurm runs the same against a real Slurm; here are the ends that it does not reach.
"""

import json
from pathlib import Path

import pytest

from app.senders.config import Service
from app.senders.outbox import Outbox
from app.senders.slurm import Slurm

RECORD = """\
JobId=47 JobName=pre train
   JobState={state} Reason=None Dependency=(null)
   Requeue=1 Restarts={restarts} BatchFlag=1 Reboot=0 ExitCode=0:0
   StartTime=1796030286 EndTime={end} Deadline=N/A
   NodeList=n[1-2]
   StdErr=/logs/a b.err
   StdOut=/logs/47.out
"""
ENDED = {
    "JOBID": "47", "ARRAYJOBID": "0", "ARRAYTASKID": "4294967294", "JOBSTATE": "FAILED",
    "EXITCODE": "1:0", "START": "1796030286", "END": "1796030386", "NODES": "n[1-2]",
    "JOBNAME": "pre train", "USERNAME": "ada", "PARTITION": "gpu", "STDOUT": "%x-%j.out",
    "WORK_DIR": "/home/ada",
}  # fmt: skip
EPILOG = {
    "SLURM_JOB_ID": "47", "SLURM_JOB_EXIT_CODE2": "0:9", "SLURM_JOB_NODELIST": "n[1-2]",
    "SLURM_JOB_PARTITION": "gpu", "SLURM_CLUSTER_NAME": "c1", "SLURM_JOB_RESTART_COUNT": "1",
}  # fmt: skip


@pytest.fixture
def slurm(tmp_path: Path) -> Slurm:
    service = Service("http://127.0.0.1:9", tmp_path / "secret", tmp_path / "spool")
    (tmp_path / "bin").mkdir()
    return Slurm(Outbox(service), service.spool, bin_dir=str(tmp_path / "bin"))


def reported(slurm: Slurm, environment: dict[str, str], printed: str | None) -> dict | None:
    """Run the hook beside a scontrol that prints a record, or fails."""
    program = Path(slurm.bin_dir, "scontrol")
    record = f"cat <<'END'\n{printed}\nEND" if printed else "exit 1"
    program.write_text(
        f'#!/bin/sh\ncase "$2" in hostnames) echo n1; echo n2;; *) {record}\n;; esac\n'
    )
    program.chmod(0o755)
    id = slurm.note(environment)
    if id is None:
        return None
    slurm.complete(id)
    assert not list((slurm.spool / "noted").iterdir())
    ready = slurm.spool / "ready" / f"{id}.json"
    return json.loads(ready.read_text())["data"] if ready.exists() else None


def test_both_logs_are_named_as_uris_with_what_else_is_known(slurm):
    told = reported(slurm, ENDED, RECORD.format(state="COMPLETING", restarts=0, end=1796030386))
    assert told == {
        "scheduler": "slurm", "job_id": "47", "attempt": 0, "name": "pre train", "user": "ada",
        "state": "FAILED", "exit_code": 1, "nodes": ["n1", "n2"],
        "started_at": "2026-11-30T09:18:06Z", "ended_at": "2026-11-30T09:19:46Z",
        "log_uris": ["file:///logs/47.out", "file:///logs/a%20b.err"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("environment", "record", "state", "attempt"),
    [
        # put back in the queue: the record is that of the next run, with one restart more
        ({"JOBSTATE": "PENDING"}, ("COMPLETING", 1, "Unknown"), "REQUEUED", 0),
        ({"JOBSTATE": "PREEMPTED"}, ("COMPLETING", 3, "Unknown"), "PREEMPTED", 2),
        ({"JOBSTATE": "NODE_FAIL"}, ("PENDING", 1, "1796030446"), "NODE_FAIL", 0),
        # ended for good, in its second run
        ({"JOBSTATE": "NODE_FAIL"}, ("COMPLETING", 1, "1796030386"), "NODE_FAIL", 1),
        ({"JOBSTATE": "TIMEOUT"}, ("TIMEOUT", 1, "1796030386"), "TIMEOUT", 1),
        # requeued, and cancelled within the same second
        ({"JOBSTATE": "PREEMPTED"}, ("CANCELLED", 1, "1796030386"), "PREEMPTED", 0),
    ],
)
def test_a_requeued_job_is_the_attempt_that_ended(slurm, environment, record, state, attempt):
    names = dict(zip(("state", "restarts", "end"), record, strict=True))
    told = reported(slurm, {**ENDED, **environment}, RECORD.format(**names))
    assert (told["state"], told["attempt"]) == (state, attempt)


@pytest.mark.parametrize(
    ("state", "told_state", "attempt"),
    [("OUT_OF_MEMORY", "OUT_OF_MEMORY", 1), ("PENDING", "REQUEUED", 0), ("RUNNING", "REQUEUED", 0)],
)
def test_the_epilog_takes_the_state_from_the_record(slurm, state, told_state, attempt):
    told = reported(slurm, EPILOG, RECORD.format(state=state, restarts=1, end=1796030386))
    assert (told["state"], told["attempt"], told["cluster"]) == (told_state, attempt, "c1")
    assert told["signal"] == 9
    assert "exit_code" not in told
    assert ("started_at" in told) == (told_state != "REQUEUED")


def test_without_a_record_the_log_is_found_by_its_pattern(slurm):
    told = reported(slurm, ENDED, None)
    assert told["log_uris"] == ["file:///home/ada/pre%20train-47.out"]
    assert told["state"] == "FAILED"
    assert "attempt" not in told


def test_a_task_of_an_array_is_asked_for_and_named_as_people_do(slurm):
    told = reported(slurm, {**ENDED, "ARRAYJOBID": "40", "ARRAYTASKID": "7"}, None)
    assert told["job_id"] == "40_7"


@pytest.mark.parametrize(
    "environment",
    [
        {**ENDED, "NODES": ""},
        {**ENDED, "HETJOBID": "46", "HETJOBOFFSET": "1"},
        {**ENDED, "STDOUT": "/dev/null"},
        {**ENDED, "STDOUT": ""},
    ],
    ids=["never ran", "part of another", "prints nowhere", "has no log"],
)
def test_jobs_without_a_log_of_their_own_are_not_reported(slurm, environment):
    assert reported(slurm, environment, None) is None
    assert not list((slurm.spool / "ready").iterdir())


def test_a_name_that_is_no_text_is_reported_all_the_same(slurm):
    told = reported(slurm, {**ENDED, "JOBNAME": "a\udcff"}, None)
    assert told["name"] == "a?"
    assert told["log_uris"] == ["file:///home/ada/a%FF-47.out"]


def test_a_note_whose_process_was_ended_is_completed_later(slurm, monkeypatch):
    reported(slurm, ENDED, None)
    slurm.note(ENDED)
    slurm.adopt()
    assert len(list((slurm.spool / "noted").iterdir())) == 1
    monkeypatch.setattr("app.senders.slurm._ABANDONED_SECONDS", -1)
    slurm.adopt()
    assert len(list((slurm.spool / "ready").iterdir())) == 2
