"""Logs that are named by s3:// URIs, through the service and the command as they ship."""

import json
import time

import pytest

from tests.api.server import REAL, ended, running
from tests.api.test_exits import SECRETS, post, report
from tests.cli.running import Command
from tests.object_store import KEYS, object_store
from tests.waiting import until

LOG = b"""\
iteration 10/ 500 | elapsed time per iteration (ms): 811.0 | lm loss: 7.31E+00 |
Traceback (most recent call last):
  File "/home/mira/sft/run.py", line 44, in main
    tokens = batch["packed_ids"]
KeyError: 'packed_ids'
"""


@pytest.fixture(scope="module")
def bucket():
    with object_store() as found:
        found.put("runs/7/rank0.log", LOG)
        found.put("runs/7/rank1.log", b"iteration 10/ 500 | lm loss: 7.31E+00 |\n")
        yield found


@pytest.fixture(scope="module")
def server(bucket, tmp_path_factory):
    chosen = {
        "log_roots": "s3://logs/runs:/var/log",
        "s3_endpoint": bucket.endpoint,
        "webhook_secrets": SECRETS[0],
        "quiet_log_seconds": 3,
        "log_wait_seconds": 20,
        "late_log_seconds": 1,
    }
    with running(tmp_path_factory.mktemp("objects"), program=REAL, **chosen) as found:
        yield found


@pytest.fixture
def client(server):
    with server.client(timeout=60) as found:
        yield found


@pytest.mark.parametrize(
    "log",
    [
        {"uri": "s3://logs/runs/7/rank0.log"},
        {"uri": "s3://logs/runs/7/"},
        {"uris": ["s3://logs/runs/7/rank0.log", "s3://logs/runs/7/rank1.log"]},
    ],
    ids=["object", "folder", "several"],
)
def test_a_log_in_the_store_is_diagnosed_and_its_copy_removed(client, server, log):
    answer = client.post("/v1/diagnoses?wait=60", json={"log": log})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["primary"]["cause"] == "KeyError"
    assert found["primary"]["first_seen"]["file"] == "rank0.log"
    assert list((server.data / "fetched").iterdir()) == []


@pytest.mark.parametrize(
    ("uri", "status"),
    [
        ("s3://logs/runs/8/rank0.log", 404),
        ("s3://logs/secret", 403),
        ("s3://other/runs/7/rank0.log", 403),
        ("s3://logs/runs/../secret", 400),
        ("s3://logs/runs/%2e%2e/secret", 400),
    ],
)
def test_a_name_that_is_missing_or_not_allowed_is_refused(client, uri, status):
    answer = client.post("/v1/diagnoses", json={"log": {"uri": uri}})
    assert answer.status_code == status, answer.text


def test_a_reported_log_is_awaited_read_and_read_again_when_it_has_grown(client, bucket):
    uri = "s3://logs/runs/9/train.log"
    answer = post(client, report(uri, job_id="grows"))
    assert answer.status_code == 202, answer.text
    id = answer.json()["id"]
    time.sleep(1)
    bucket.put("runs/9/train.log", b"iteration 10/ 500 | lm loss: 7.31E+00 |\n")
    assert ended(client, id, 90)["primary"]["cause"] != "KeyError"
    bucket.put("runs/9/train.log", LOG)
    assert post(client, report(uri, job_id="grows")).status_code == 202
    until(lambda: client.get(f"/v1/diagnoses/{id}").json()["primary"]["cause"] == "KeyError")


def test_the_command_judges_the_jobs_below_a_prefix(bucket, tmp_path):
    chosen = {"FIRSTFAULT_S3_ENDPOINT": bucket.endpoint, "FIRSTFAULT_DATA_DIR": str(tmp_path)}
    command = Command(tmp_path / "cache")
    told = command("reclassify", "s3://logs/runs/", "--output", "json", **KEYS, **chosen)
    assert told.status == 0, told.err
    changed = {each["log"]: each["cause"] for each in json.loads(told.out)["changed"]}
    assert changed["s3://logs/runs/7/"] == "KeyError"
