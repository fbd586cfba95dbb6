"""Requests that mean harm: refused, or taken for the plain text that they are."""

import base64
import json
import socket
from datetime import UTC, datetime
from urllib.parse import quote
from uuid import uuid4

import pytest
from standardwebhooks import Webhook

from tests.api.server import ended, running

SECRET = "whsec_" + base64.b64encode(b"s" * 24).decode()
STRINGS = {
    "sql": "'; DROP TABLE diagnoses; --",
    "union": '" UNION SELECT answer FROM diagnoses /*',
    "like": "%_%' OR '1'='1",
    "jinja": "{{ 7*7 }}{% for x in ().__class__.__base__.__subclasses__() %}",
    "format": "{0.__class__.__init__.__globals__} %(asctime)s %n %s ${jndi:ldap://x/}",
    "shell": "$(touch /tmp/owned); `id` | tee x",
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "path": "../../../../etc/passwd",
    "header": "x\r\nSet-Cookie: a=b",
    "bidi": "\u202egnp.exe\u2066",
    "emoji": "\U0001f4a5" * 60,
}
TEXTS = ("job_id", "job_type", "scheduler", "cluster", "name", "user", "state")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, new_database):
    folder = tmp_path_factory.mktemp("hostile")
    roots = folder / "logs"
    roots.mkdir()
    (roots / "a.log").write_text("cause KeyError\n")
    chosen = {"log_roots": roots, "webhook_secrets": SECRET, "quiet_log_seconds": 0.1}
    with running(folder / "data", **chosen, **new_database()) as found, found.client() as client:
        client.log = f"file://{roots}/a.log"
        yield client


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_a_string_of_a_job_comes_back_as_it_was_sent_and_does_nothing_else(hostile, text):
    job = dict.fromkeys(TEXTS, text)
    told = {"log": {"text": f"cause KeyError\n{text}"}, "job": job}
    answer = hostile.post("/v1/diagnoses?wait=60", json=told)
    assert answer.status_code == 200, answer.text
    kept = hostile.get(answer.headers["location"]).json()
    assert {name: kept["job"][name] for name in TEXTS} == job
    listed = hostile.get("/v1/diagnoses", params={"job_id": text}).json()["items"]
    assert kept["id"] in [item["id"] for item in listed]
    assert hostile.get("/v1/diagnoses", params={"job_id": "none"}).json()["items"] == []


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_a_string_in_a_query_or_path_finds_nothing_and_breaks_nothing(hostile, text):
    for name in ("job_id", "cause", "cursor", "since"):
        assert hostile.get("/v1/diagnoses", params={name: text}).status_code in (200, 422)
    assert hostile.get("/v1/incidents/search", params={"q": text}).status_code == 200
    for path in ("diagnoses/{}", "diagnoses/{}/digest", "incidents/{}/similar", "rules/{}"):
        found = hostile.get("/v1/" + path.format(_quoted(text)))
        assert found.status_code in (404, 405, 422), found.text
    assert hostile.get("/readyz").status_code == 200


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_a_string_in_a_signed_report_is_kept_as_text(hostile, text):
    data = {**dict.fromkeys(TEXTS, text), "job_id": uuid4().hex, "log_uri": hostile.log}
    body = json.dumps({"type": "job.exited", "timestamp": "2026-11-30T03:45:00Z", "data": data})
    now, id = datetime.now(UTC), uuid4().hex
    headers = {
        "webhook-id": id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(SECRET).sign(id, now, body),
        "content-type": "application/json",
    }
    answer = hostile.post("/v1/webhooks/job-exit", content=body, headers=headers)
    assert answer.status_code == 202, answer.text
    kept = ended(hostile, answer.json()["id"])
    assert kept["job"]["user"] == text


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_a_place_of_a_log_made_of_it_is_refused(hostile, text):
    for uri in (text, f"file:///{text}", f"file:///{_quoted(text)}", f"s3://{text}/{text}"):
        answer = hostile.post("/v1/diagnoses", json={"log": {"uri": uri}})
        assert answer.status_code in (400, 403, 404, 422), answer.text


def test_a_body_of_a_gigabyte_for_a_small_form_is_refused_before_it_is_read(hostile):
    for path in ("/v1/reclassifications", "/v1/diagnoses"):
        with _connected(hostile) as line:
            line.sendall(
                f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {1 << 30}\r\n\r\n".encode()
            )
            said = line.recv(4096)
            assert b" 413 " in said
            assert b"application/problem+json" in said


def test_a_body_in_pieces_without_a_stated_length_is_refused_at_the_bound(hostile):
    piece = b'{"filter": {}, "x": "' + b"a" * (1 << 20)

    def pieces():
        for _ in range(64):
            yield piece

    answer = hostile.post(
        "/v1/reclassifications", content=pieces(), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_deeply_nested_document_is_a_fault_of_form(hostile):
    body = b'{"log":' + b"[" * 200_000
    kind = {"content-type": "application/json"}
    for path in ("/v1/reclassifications", "/v1/diagnoses"):
        assert hostile.post(path, content=body, headers=kind).status_code in (400, 422)


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _connected(client) -> socket.socket:
    return socket.create_connection((client.base_url.host, client.base_url.port), timeout=20)
