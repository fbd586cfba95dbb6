"""The attribution service's own words: what its clients send, and what they branch on."""

import os

import pytest

from app.api.attrsvc import action_of
from tests.api.server import running


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def client(tmp_path_factory, logs):
    folder = tmp_path_factory.mktemp("attrsvc")
    with running(folder, log_roots=logs) as server, server.client() as found:
        yield found


def written(logs, name: str, text: str) -> str:
    (logs / name).write_text(text)
    return str(logs / name)


def test_a_log_is_submitted_and_its_result_read(client, logs):
    path = written(logs, "a.log", "cause KeyError")
    told = {"log_path": path, "user": "eve", "job_id": "7", "analysis_intent": "terminal"}
    said = client.post("/logs", json=told).json()
    assert (said["submitted"], said["normalized_path"], said["mode"]) == (True, path, "SINGLE")
    found = client.get("/logs", params={"log_path": path, "wait": 20}).json()
    assert found["status"] == "completed"
    assert found["recommendation"] == {"action": "STOP", "source": "firstfault"}
    (inner,) = found["result"]["result"]
    assert inner["primary_issues"] == ["KeyError"]
    assert inner["auto_resume"].startswith("STOP")
    assert found["firstfault"]["primary"]["cause"] == "KeyError"
    assert found["firstfault"]["job"]["user"] == "eve"


def test_a_log_that_was_never_submitted_is_diagnosed_and_a_changed_one_again(client, logs):
    path = written(logs, "b.log", "cause KeyError")
    first = client.get("/logs", params={"log_path": path, "wait": 20}).json()
    again = client.get("/logs", params={"log_path": path}).json()
    assert again["firstfault"]["id"] == first["firstfault"]["id"]
    written(logs, "b.log", "cause KeyError\ncause ECCError")
    later = client.get("/logs", params={"log_path": path, "wait": 20}).json()
    assert later["firstfault"]["primary"]["cause"] == "ECCError"


def test_a_log_that_takes_longer_than_the_caller_waits(client, logs):
    path = written(logs, "c.log", "sleep 1.5\ncause KeyError")
    now = client.get("/logs", params={"log_path": path}).json()
    assert (now["status"], now["recommendation"]["action"]) == ("in_flight", "UNKNOWN")
    short = client.get("/logs", params={"log_path": path, "wait": 0.2}).json()
    assert short["recommendation"]["action"] == "TIMEOUT"


def test_tracking_reads_nothing(client, logs):
    path = written(logs, "d.log", "cause KeyError")
    told = {"log_path": path, "user": "eve", "analysis_intent": "track_only"}
    assert client.post("/logs", json=told).json()["mode"] == "PENDING"


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("relative.log", 400, "INVALID_PATH"),
        ("/etc/passwd", 403, "OUTSIDE_ROOT"),
        ("{logs}/../../etc/passwd", 403, "OUTSIDE_ROOT"),
        ("{logs}/nowhere.log", 404, "NOT_FOUND"),
        ("{logs}/out", 403, "OUTSIDE_ROOT"),
    ],
)
def test_paths_that_may_not_be_read_have_the_errors_of_the_service(
    client, logs, path, status, code
):
    if not (logs / "out").is_symlink():
        os.symlink("/etc/passwd", logs / "out")
    refused = client.get("/logs", params={"log_path": path.format(logs=logs)})
    assert (refused.status_code, refused.json()["error_code"]) == (status, code)


@pytest.mark.parametrize(
    ("cause", "action", "restart", "said"),
    [
        ("KeyError", "fix_code", False, "STOP"),
        ("OutOfMemoryError", "fix_config", False, "STOP"),
        ("ECCError", "cordon_and_restart", True, "RESTART"),
        ("Preempted", "resubmit", True, "RESTART"),
        ("Completed", "none", False, "CONTINUE"),
        ("Unknown", "none", False, "UNKNOWN"),
        ("NCCLTimeoutError", "restart", False, "UNKNOWN"),
    ],
)
def test_stop_is_said_only_where_a_restart_cannot_help(cause, action, restart, said):
    answer = {"primary": {"cause": cause}, "recovery": {"action": action, "restart": restart}}
    assert action_of(answer) == said
