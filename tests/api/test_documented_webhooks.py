"""The examples of docs/webhooks.md, run as they stand there against a server."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.server import ended, running

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"
SECRET = "whsec_" + base64.b64encode(b"\xff\0 a key of any bytes").decode()
EXAMPLES = dict(re.findall(r"```(sh|python)\n(.*?)```", PAGE.read_text(), re.DOTALL))
COMMANDS = {"sh": ["sh", "-euc"], "python": [sys.executable, "-c"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    logs = tmp_path_factory.mktemp("logs")
    (logs / "train.log").write_text("cause KeyError\n")
    chosen = {"log_roots": logs, "webhook_secrets": SECRET, "quiet_log_seconds": 0}
    with running(tmp_path_factory.mktemp("data"), **chosen) as found:
        yield found, logs / "train.log"


@pytest.mark.parametrize("tongue", COMMANDS)
def test_an_example_is_accepted_as_it_stands_and_its_log_diagnosed(server, tongue):
    if tongue == "sh" and not all(map(shutil.which, ("curl", "openssl"))):
        pytest.skip("curl or openssl is not installed")
    found, log = server
    told = {**os.environ, "URL": found.url, "SECRET": SECRET, "LOG": str(log)}
    done = subprocess.run(
        [*COMMANDS[tongue], EXAMPLES[tongue]],
        env=told, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    answer = json.loads(done.stdout)
    assert answer["is_new"] is True
    with found.client() as client:
        assert ended(client, answer["id"])["job"]["nodes"] == ["gpu-a07", "gpu-a08"]


def test_every_field_of_a_report_is_on_the_page():
    from app.api.forms import JobExit

    told = PAGE.read_text()
    assert [name for name in JobExit.model_fields if f"`{name}`" not in told] == []
