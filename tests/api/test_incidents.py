"""Past incidents over HTTP, from the service as it ships."""

import time

import pytest
from pydantic import TypeAdapter

from app.api.incidents import Alike
from tests.api.server import REAL, running

LOG = """\
iteration 10/ 500 | elapsed time per iteration (ms): 811.0 | lm loss: 7.31E+00 |
Traceback (most recent call last):
  File "/home/mira/sft/run.py", line {line}, in <module>
    tokens = batch["packed_ids"]
KeyError: 'packed_ids'
"""
HEADERS = {"Content-Type": "text/plain"}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("incidents")
    running_one = running(folder, program=REAL, memory_seconds=30)
    with running_one as server, server.client(timeout=60) as found:
        yield found


def diagnosed(client, line, **job):
    answered = client.post(
        "/v1/diagnoses", params={"wait": 60, **job}, content=LOG.format(line=line), headers=HEADERS
    )
    assert answered.status_code == 200
    return answered.json()


def found(client, path, **query):
    """Ask until the keeper has taken in what was diagnosed."""
    end = time.monotonic() + 30
    while True:
        answered = client.get(f"/v1/incidents/{path}", params=query)
        assert answered.status_code == 200
        TypeAdapter(Alike).validate_json(answered.content)
        if answered.json()["items"] or time.monotonic() > end:
            return answered.json()
        time.sleep(0.2)


def test_a_diagnosis_is_remembered_and_named_when_the_same_happens_again(client):
    first = diagnosed(client, 61, job_id="12", cluster="north")
    listed = found(client, "search", q="packed ids")
    assert [item["diagnosis_id"] for item in listed["items"]] == [first["id"]]
    item = listed["items"][0]
    assert (item["cause"], item["job_id"], item["cluster"]) == ("KeyError", "12", "north")
    assert item["lines"][0] == "KeyError: 'packed_ids'"

    second = diagnosed(client, 77)
    assert second["method"] == "rules"
    assert second["precedents"] == [
        {"id": item["id"], "cause": "KeyError", "similarity": 1.0, "confirmed": False}
    ]
    alike = found(client, f"{first['id']}/similar")
    assert [one["diagnosis_id"] for one in alike["items"]] == [second["id"]]
    assert found(client, f"{item['id']}/similar") == alike


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("search", 422),
        ("search?q=%20", 422),
        ("search?q=a&limit=51", 422),
        ("search?q=a&mode=fast", 422),
        ("in_01M8NRCASTPE1A258E477VS45M/similar", 404),
        ("nothing/similar", 404),
    ],
)
def test_a_question_that_cannot_be_answered_is_a_problem(client, path, status):
    answered = client.get(f"/v1/incidents/{path}")
    assert answered.status_code == status
    assert answered.headers["content-type"] == "application/problem+json"


def test_a_service_without_memory_says_so_and_starts_no_keeper(tmp_path):
    with running(tmp_path, memory="no") as server, server.client() as client:
        told = client.get("/v1/incidents/search?q=a").json()
        assert told["items"] == []
        assert "switched off" in told["note"]
        assert not (tmp_path / "memory").exists()
