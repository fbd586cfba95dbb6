"""`firstfault diagnose --follow`, as a person at a terminal uses it."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.cli.running import ROOT
from tests.logagent.formats import FORMATS, write

ORBIT = FORMATS[0]


@pytest.fixture
def log(tmp_path):
    return write(ORBIT, tmp_path / "job.log", 60_000)


def started(firstfault, *words):
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "FIRSTFAULT_MEMORY": "no"}
    environment |= {"FIRSTFAULT_CACHE_DIR": str(firstfault.cache), "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "app.cli.main", "diagnose", "--follow", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def test_the_verdict_comes_when_the_log_is_quiet_and_news_go_to_stderr(firstfault, log):
    told = firstfault("diagnose", "--follow", "--quiet", "0.5", "--json", log.path)
    assert told.status == 0
    answer = json.loads(told.out)
    assert answer["primary"]["cause"] == ORBIT.cause
    assert "tokens are not routine, over its budget" in told.err
    assert f"line {log.wanted[-1]}: " in told.err


def test_an_interrupt_asks_for_the_verdict(firstfault, log):
    with started(firstfault, "--quiet", "600", log.path) as process:
        for line in process.stderr:
            if "not routine" in line:
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert out.startswith(f"{ORBIT.cause} · ")


@pytest.mark.parametrize("words", [("-",), (".",), ("a.log", "b.log")])
def test_only_one_file_can_be_followed(firstfault, words):
    assert "--follow takes one file" in firstfault.refused("diagnose", "--follow", *words)


def test_a_file_that_never_comes_is_one_clear_line(firstfault, tmp_path):
    path = tmp_path / "no.log"
    told = firstfault("diagnose", "--follow", "--quiet", "0", path)
    assert told.status == 2
    assert "no.log, which is not there yet" in told.err
    assert told.err.splitlines()[-1] == f"firstfault: {path}: no such file"
