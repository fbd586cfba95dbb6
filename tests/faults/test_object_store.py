"""An object store that is slow, mute or gone holds up its own diagnoses and nothing else."""

import time

import pytest

from tests.api.server import ended, running
from tests.faults.proxy import proxied
from tests.object_store import object_store

A = {"log": {"uri": "s3://logs/a.log"}}
LOG = b"cause KeyError\n" * 1000


@pytest.fixture(scope="module")
def bucket():
    with object_store() as found:
        found.put("a.log", LOG)
        yield found


@pytest.fixture(scope="module")
def store(bucket):
    with proxied(bucket.endpoint) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def client(store, tmp_path_factory):
    chosen = {"log_roots": "s3://logs", "s3_endpoint": store.endpoint}
    with (
        running(tmp_path_factory.mktemp("s3"), workers=2, **chosen) as served,
        served.client(timeout=90) as found,
    ):
        for each in [found.post("/v1/diagnoses", json=A).json() for _ in range(4)]:
            assert ended(found, each["id"], 90)["status"] == "complete"  # clients are imported
        yield found


@pytest.fixture(autouse=True)
def _passes_again(store):
    yield
    store.manner = "pass"


def test_a_slow_store_costs_time_and_no_diagnosis(store, client):
    store.manner = "slow"
    answer = client.post("/v1/diagnoses?wait=60", json=A)
    assert answer.json()["primary"]["cause"] == "KeyError"
    assert answer.json()["log"]["lines"] == LOG.count(b"\n")


def test_a_store_that_goes_mute_holds_up_nothing_else_and_is_waited_for(store, client):
    client.post("/v1/diagnoses", content=b"sleep 1")
    client.post("/v1/diagnoses", content=b"sleep 1")  # both workers are at work, so it waits
    id = client.post("/v1/diagnoses", json=A).json()["id"]
    store.manner = "mute"
    began = time.monotonic()
    other = client.post("/v1/diagnoses?wait=30", content=b"cause NameError")
    assert other.json()["primary"]["cause"] == "NameError"
    assert client.get("/healthz").status_code == 200
    assert client.get(f"/v1/diagnoses/{id}").json()["status"] in ("queued", "running")
    time.sleep(max(2 - (time.monotonic() - began), 0))
    store.manner = "pass"
    assert ended(client, id, 60)["primary"]["cause"] == "KeyError"


def test_a_store_that_stays_mute_fails_its_diagnosis_by_name_and_the_worker_is_replaced(
    store, tmp_path
):
    chosen = {"log_roots": "s3://logs", "s3_endpoint": store.endpoint, "diagnosis_seconds": 3}
    with running(tmp_path, **chosen) as served, served.client(timeout=90) as client:
        client.post("/v1/diagnoses", content=b"sleep 1.5")
        id = client.post("/v1/diagnoses", json=A).json()["id"]
        store.manner = "mute"
        failed = ended(client, id, 60)["error"]
        assert failed["kind"] == "TookTooLong"
        assert "s3://logs/a.log" in failed["detail"]
        answer = client.post("/v1/diagnoses?wait=60", content=b"cause NameError").json()
        assert answer["primary"]["cause"] == "NameError"
        assert "firstfault_worker_deaths_total 1.0" in client.get("/metrics").text


def test_while_it_is_gone_requests_are_to_come_again_and_afterwards_they_are_taken(store, client):
    store.manner = "gone"
    refused = client.post("/v1/diagnoses", json=A)
    assert refused.status_code == 503
    assert refused.headers["retry-after"]
    assert "s3://logs/a.log" in refused.json()["detail"]
    store.manner = "pass"
    assert client.post("/v1/diagnoses?wait=60", json=A).json()["primary"]["cause"] == "KeyError"


def test_an_object_that_goes_between_request_and_diagnosis_is_named_in_the_failure(bucket, client):
    bucket.put("b.log", LOG)
    for _ in range(2):
        client.post("/v1/diagnoses", content=b"sleep 2")
    id = client.post("/v1/diagnoses", json={"log": {"uri": "s3://logs/b.log"}}).json()["id"]
    bucket.remove("b.log")
    failed = ended(client, id, 60)
    assert failed["error"]["status"] == 404
    assert "s3://logs/b.log" in failed["error"]["detail"]
