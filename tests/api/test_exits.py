"""Reports of job exits: signed, kept once, read when the log has settled."""

import base64
import json
import os
import time
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from standardwebhooks import Webhook

from tests.api.server import ended, running
from tests.waiting import until

SECRETS = ["whsec_" + base64.b64encode(letter * 24).decode() for letter in (b"a", b"b")]


def report(uri: str, **told: object) -> str:
    data = {"scheduler": "slurm", "cluster": "c1", "job_id": uuid4().hex, "log_uri": uri, **told}
    return json.dumps({"type": "job.exited", "timestamp": "2026-11-30T03:45:00Z", "data": data})


def post(client, body: str, *, secret=SECRETS[0], id=None, at=None, signed=None):
    at = at or datetime.now(UTC)
    id = id or uuid4().hex
    headers = {
        "webhook-id": id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(id, at, signed or body),
        "content-type": "application/json",
    }
    return client.post("/v1/webhooks/job-exit", content=body, headers=headers)


def accepted(client, body: str) -> str:
    answer = post(client, body)
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def server(tmp_path_factory, logs):
    chosen = {
        "log_roots": logs,
        "webhook_secrets": ",".join(SECRETS),
        "quiet_log_seconds": 2,
        "log_wait_seconds": 6,
        "late_log_seconds": 1,
    }
    with running(tmp_path_factory.mktemp("exits"), **chosen) as found:
        yield found


@pytest.fixture
def client(server):
    with server.client() as found:
        yield found


def written(logs, text: str):
    """Write a log that has been quiet for an hour."""
    log = logs / f"{uuid4().hex}.log"
    log.write_text(text)
    os.utime(log, (time.time() - 3600,) * 2)
    return log


def test_an_exit_is_accepted_and_its_log_diagnosed(client, logs):
    answer = post(client, report(written(logs, "cause KeyError").as_uri(), state="FAILED"))
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/v1/diagnoses/{answer.json()['id']}"
    found = ended(client, answer.json()["id"])
    assert found["primary"]["cause"] == "KeyError"
    assert found["job"]["state"] == "FAILED"


def test_either_secret_signs_and_no_other(client, logs):
    uri = written(logs, "cause KeyError").as_uri()
    assert post(client, report(uri), secret=SECRETS[1]).status_code == 202
    stranger = "whsec_" + base64.b64encode(b"c" * 24).decode()
    refused = post(client, report(uri), secret=stranger)
    assert refused.status_code == 401
    assert refused.json()["type"] == "urn:firstfault:problem:unsigned"


@pytest.mark.parametrize("seconds", [-400, 400])
def test_a_report_of_another_time_is_refused(client, logs, seconds):
    at = datetime.fromtimestamp(time.time() + seconds, UTC)
    assert post(client, report(written(logs, "x").as_uri()), at=at).status_code == 401


def test_a_body_that_was_changed_on_its_way_is_refused(client, logs):
    body = report(written(logs, "x").as_uri())
    assert post(client, body, signed=body.replace("slurm", "other")).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"webhook-id": "a", "webhook-timestamp": "1", "webhook-signature": "v1,x"},
        {"webhook-id": "a", "webhook-timestamp": "soon", "webhook-signature": "none"},
        {"webhook-id": "a", "webhook-timestamp": "9e99", "webhook-signature": "v1"},
    ],
)
def test_headers_that_cannot_be_meant_are_refused(client, headers):
    refused = client.post("/v1/webhooks/job-exit", content=b"{}", headers=headers)
    assert refused.status_code == 401


def test_the_same_message_and_the_same_attempt_are_the_same_diagnosis(client, logs):
    body = report(written(logs, "cause KeyError").as_uri(), job_id="77", attempt=1)
    first = post(client, body, id="m1").json()
    replayed = post(client, body, id="m1").json()
    retold = post(client, body, id="m2").json()
    later = post(client, body.replace('"attempt": 1', '"attempt": 2')).json()
    assert [first["is_new"], replayed["is_new"], retold["is_new"]] == [True, False, False]
    assert first["id"] == replayed["id"] == retold["id"] != later["id"]


def test_a_log_that_is_still_written_is_waited_for(client, logs):
    log = written(logs, "cause KeyError\n")
    log.write_text("cause KeyError\n")
    id = accepted(client, report(log.as_uri()))
    for _ in range(4):
        time.sleep(0.6)
        assert client.get(f"/v1/diagnoses/{id}").json()["status"] == "waiting"
        with log.open("a") as opened:
            opened.write("a line\n")
    with log.open("a") as opened:
        opened.write("cause ECCError\n")
    assert ended(client, id)["primary"]["cause"] == "ECCError"


def test_a_log_that_comes_late_is_waited_for_and_one_that_never_comes_fails(client, logs):
    late, never = logs / "late.log", logs / "never.log"
    ids = [accepted(client, report(log.as_uri())) for log in (late, never)]
    time.sleep(0.7)
    late.write_text("cause KeyError")
    assert ended(client, ids[0])["primary"]["cause"] == "KeyError"
    failed = ended(client, ids[1])
    assert (failed["status"], failed["error"]["kind"]) == ("failed", "SourceNotFound")


def test_a_log_that_grows_after_its_diagnosis_is_read_again_and_the_first_answer_kept(client, logs):
    log = written(logs, "cause KeyError\n")
    id = accepted(client, report(log.as_uri()))
    assert ended(client, id)["primary"]["cause"] == "KeyError"
    log.write_text("cause KeyError\ncause ECCError\n")
    until(lambda: client.get(f"/v1/diagnoses/{id}").json()["primary"]["cause"] == "ECCError")
    (past,) = client.get(f"/v1/diagnoses/{id}/history").json()["items"]
    assert (past["revision"], past["cause"], past["why"]) == (1, "KeyError", "the log has changed")


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"log_uri": "file:///etc/passwd"}, 403),
        ({"log_uri": "http://169.254.169.254/"}, 422),
        ({"log_uri": None}, 422),
        ({"exit_code": "abc"}, 422),
        ({"surprise": 1}, 422),
    ],
)
def test_reports_that_cannot_be_meant_are_refused(client, logs, wrong, status):
    body = report(written(logs, "x").as_uri(), **wrong)
    refused = post(client, body)
    assert refused.status_code == status
    assert refused.headers["content-type"] == "application/problem+json"


def test_without_secrets_nothing_is_accepted_and_the_answer_says_how(tmp_path):
    with running(tmp_path) as bare, bare.client() as client:
        refused = post(client, report("file:///tmp/x"))
        assert refused.status_code == 401
        assert "FIRSTFAULT_WEBHOOK_SECRETS" in refused.json()["detail"]


def test_an_exit_that_was_accepted_before_a_kill_is_diagnosed_after_it(tmp_path, logs):
    chosen = {"log_roots": logs, "webhook_secrets": SECRETS[0], "quiet_log_seconds": 1}
    log = written(logs, "cause KeyError")
    with running(tmp_path, **chosen) as first, first.client() as client:
        id = accepted(client, report(log.as_uri()))
        first.kill()
    with running(tmp_path, **chosen) as second, second.client() as client:
        assert ended(client, id)["primary"]["cause"] == "KeyError"


def test_reports_that_wait_leave_the_queue_to_others_and_a_repeated_one_is_known(tmp_path, logs):
    chosen = {"log_roots": logs, "webhook_secrets": SECRETS[0], "waiting_limit": 1}
    missing = report((logs / "not-there-yet.log").as_uri())
    with running(tmp_path, queue_limit=1, **chosen) as found, found.client() as client:
        first = post(client, missing, id="m1")
        assert first.status_code == 202
        refused = post(client, report((logs / "nor-this.log").as_uri()))
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        again = post(client, missing, id="m1")
        assert (again.status_code, again.json()["is_new"]) == (202, False)
        uploaded = client.post("/v1/diagnoses", content=b"cause KeyError", params={"wait": 20})
        assert uploaded.json()["primary"]["cause"] == "KeyError"
