"""The program as one file, started as a scheduler or a person would: with Python and no more."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from app.cli.senders import slurm as write_sender
from tests.waiting import until


@pytest.fixture
def program(tmp_path, service) -> Path:
    made = tmp_path / "firstfault-sender"
    write_sender(made)
    made.with_suffix(".ini").write_text(
        f"[service]\nurl = {service.url}\nsecret_file = {service.secret_file}\n"
        f"spool = {service.spool}\n[slurm]\npartitions = gpu*\n"
    )
    return made


def run(program: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": "/usr/local/bin:/usr/bin:/bin", **environment}
    python = ("/usr/bin/env", "python3", "-I", "-S")
    return subprocess.run(
        [*python, program, *arguments], env=clean, cwd=program.parent, capture_output=True,
        text=True, timeout=30, check=False,
    )  # fmt: skip


def test_a_job_of_any_scheduler_is_reported(program, receiver):
    done = run(
        program, "report", "--scheduler", "lsf", "--job-id", "47", "--state", "EXIT",
        "--exit-code", "1", "--node", "n1", "--node", "n2", "--log", "a b.log",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    ((_, body),) = receiver.got
    assert json.loads(body)["data"] == {
        "scheduler": "lsf", "job_id": "47", "state": "EXIT", "exit_code": 1, "nodes": ["n1", "n2"],
        "log_uris": [f"file://{program.parent}/a%20b.log"],
    }  # fmt: skip


def test_a_report_that_cannot_be_sent_waits_and_is_sent_by_flush(program, receiver):
    receiver.statuses = [503]
    assert run(program, "report", "--job-id", "47", "--log", "/a").returncode == 3
    assert run(program, "flush").returncode == 0
    assert len(receiver.got) == 2


def test_the_hook_returns_before_a_slow_service_answers(program, receiver):
    receiver.delay_seconds = 6
    told = {"JOBID": "47", "NODES": "n1", "JOBSTATE": "FAILED", "STDOUT": "/a", "PARTITION": "gpu"}
    began = time.monotonic()
    assert run(program, **told).returncode == 0
    assert time.monotonic() - began < 5
    until(lambda: receiver.got and not os.listdir(program.parent / "spool" / "ready"))


def test_jobs_of_other_partitions_are_left_alone(program, receiver):
    told = {"JOBID": "47", "NODES": "n1", "JOBSTATE": "FAILED", "STDOUT": "/a", "PARTITION": "cpu"}
    assert run(program, **told).returncode == 0
    assert not os.path.exists(program.parent / "spool" / "noted")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("[slurm]", "[slurm]\npartition = a\n"), "[slurm] knows no partition; it knows cluster,"),
        (("url = http", "url = ftp"), "url is no http:// or https:// address"),
        (("secret_file", "secret_life"), "[service] knows no secret_life"),
        (("[service]", "service"), "firstfault-sender.ini"),
    ],
)
def test_a_configuration_that_cannot_be_meant_is_refused(program, change, why):
    file = program.with_suffix(".ini")
    file.write_text(file.read_text().replace(*change))
    done = run(program, "flush")
    assert done.returncode == 2
    assert why in done.stderr
    assert "Traceback" not in done.stderr


def test_by_hand_without_a_command_it_says_what_is_missing(program):
    done = run(program)
    assert done.returncode == 2
    assert done.stderr == (
        "firstfault-sender: not started by Slurm: name a command (--help lists them)\n"
    )


def test_what_was_set_up_is_left_as_it_is_when_the_program_is_written_again(program, capsys):
    before = program.with_suffix(".ini").read_text()
    write_sender(program)
    assert program.with_suffix(".ini").read_text() == before
    assert "left as it was" in capsys.readouterr().out
