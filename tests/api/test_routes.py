import gzip
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from backports import zstd
from pydantic import TypeAdapter

from app.api.schemas import Diagnosis, Page
from tests.api.server import ended

LOG = b"step 1\ncause KeyError\n"
TEXT = {"Content-Type": "text/plain"}


def send(client, body=LOG, headers=TEXT, **query):
    return client.post("/v1/diagnoses", content=body, headers=headers, params=query)


def test_a_log_as_the_body_is_accepted_and_answered_where_location_says(client):
    accepted = send(client, job_id="4711", attempt=2, state="FAILED", exit_code=-9, nodes="gpu-1")
    assert accepted.status_code == 202
    assert accepted.headers["location"] == f"/v1/diagnoses/{accepted.json()['id']}"
    assert accepted.json()["status"] in ("queued", "running")
    found = ended(client, accepted.json()["id"])
    assert found["status"] == "complete"
    assert found["primary"]["cause"] == "KeyError"
    assert found["job"] == {
        "job_id": "4711", "attempt": 2, "state": "FAILED", "exit_code": -9, "nodes": ["gpu-1"],
    }  # fmt: skip


def test_with_wait_the_answer_comes_at_once(client):
    answered = send(client, wait=60)
    assert answered.status_code == 200
    assert answered.json()["status"] == "complete"
    assert client.get(answered.headers["location"]).content == answered.content


def test_a_wait_that_is_too_short_ends_with_a_202(client):
    accepted = send(client, b"sleep 1", wait=0.2)
    assert accepted.status_code == 202
    assert 0 <= accepted.json()["progress"] <= 1
    assert ended(client, accepted.json()["id"])["status"] == "complete"


@pytest.mark.parametrize("kind", [None, "application/octet-stream", "text/plain; charset=utf-8"])
def test_a_body_of_any_raw_kind_is_a_log(client, kind):
    headers = {"Content-Type": kind} if kind else {}
    assert send(client, headers=headers, wait=60).json()["primary"]["cause"] == "KeyError"


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("gzip", gzip.compress(LOG)), ("zstd", zstd.compress(LOG))],
    ids=["gzip", "zstd"],
)
def test_a_compressed_body_is_kept_as_it_was_sent_and_read(client, server, encoding, packed):
    answered = send(client, packed, TEXT | {"Content-Encoding": encoding}, wait=60)
    assert answered.json()["primary"]["cause"] == "KeyError"
    kept = [path.read_bytes() for path in (server.data / "uploads").rglob("log")]
    assert packed in kept


def test_a_log_may_stand_inside_of_a_json_document(client):
    document = {"log": {"text": LOG.decode()}, "job": {"job_id": "77", "nodes": ["a", "b"]}}
    answered = client.post("/v1/diagnoses", json=document, params={"wait": 20, "name": "seven"})
    assert answered.status_code == 200
    assert answered.json()["job"] == {"job_id": "77", "name": "seven", "nodes": ["a", "b"]}


def test_a_log_may_be_named_by_a_uri_below_a_log_root(client, server):
    folder = server.data.parent / "logs"
    (folder / "one.log").write_bytes(b"step 1\n")
    (folder / "two.log").write_bytes(LOG)
    one = {"log": {"uri": f"file://{folder}/two.log"}}
    both = {"log": {"uris": [f"file://{folder}/one.log", f"file://{folder}/two.log"]}}
    for document, lines in ((one, 2), (both, 3)):
        answered = client.post("/v1/diagnoses?wait=60", json=document).json()
        assert answered["primary"]["cause"] == "KeyError"
        assert answered["log"]["lines"] == lines


def test_the_same_content_sent_twice_is_stored_once_and_answered_twice(client, server):
    body = b"sent twice\n"
    first, second = (send(client, body, wait=60).json()["id"] for _ in range(2))
    assert first != second
    kept = [path for path in (server.data / "uploads").rglob("log") if path.read_bytes() == body]
    assert len(kept) == 1


def test_a_log_that_cannot_be_read_fails_with_the_reason(client):
    answered = send(client, b"refuse", wait=60)
    assert answered.status_code == 200
    assert answered.json()["status"] == "failed"
    assert answered.json()["error"] == {
        "kind": "SourceError", "status": 422, "detail": "the fake refuses this log",
    }  # fmt: skip
    missing = client.get(answered.headers["location"] + "/digest")
    assert missing.status_code == 404
    assert "failed" in missing.json()["detail"]


def test_the_digest_is_plain_text(client):
    found = client.get(send(client, wait=60).headers["location"] + "/digest")
    assert found.headers["content-type"].startswith("text/plain")
    assert found.text == "the digest"


def test_the_list_can_be_narrowed_and_paged(client):
    start = datetime.now(UTC).isoformat()
    time.sleep(0.01)
    ids = [send(client, b"cause ECCError", job_id="listed", wait=60).json()["id"] for _ in range(3)]
    query = {"job_id": "listed", "cause": "ECCError", "since": start, "limit": 2}
    first = client.get("/v1/diagnoses", params=query).json()
    second = client.get("/v1/diagnoses", params=query | {"cursor": first["next"]}).json()
    assert [item["id"] for item in first["items"] + second["items"]] == ids[::-1]
    assert second["next"] is None
    assert first["items"][0]["cause"] == "ECCError"


def test_answers_have_the_forms_that_the_documentation_states(client):
    form = TypeAdapter(Diagnosis)
    form.validate_json(send(client, b"sleep 0.5").content)
    for body in (LOG, b"refuse", b"break"):
        form.validate_json(send(client, body, wait=60).content)
    Page.model_validate_json(client.get("/v1/diagnoses").content)


def test_many_callers_at_once_each_get_their_own_answer(server):
    def ask(number):
        with server.client() as client:
            body = f"cause Cause{number % 4}\n".encode() + b"x\n" * number
            return number, send(client, body, wait=60).json()

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(40)))
    for number, answer in answers:
        assert answer["primary"]["cause"] == f"Cause{number % 4}"
        assert answer["log"]["lines"] == number + 1
    assert len({answer["id"] for _, answer in answers}) == 40
