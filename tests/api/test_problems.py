import gzip
import http.client
import json

import pytest

from app.api.problems import Problem

NOBODYS = "dg_01M8NE188SVR834MNY39JMRP3T"  # an id of the right form that was never given

POST = "/v1/diagnoses"


def problem(response, status):
    """Check that this is a problem document, and give it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found = Problem.model_validate_json(response.content)
    assert found.status == status
    assert found.instance == response.request.url.path
    assert found.request_id == response.headers["x-request-id"]
    return found


@pytest.mark.parametrize("path", [NOBODYS, "dg_x", "%00", NOBODYS + "/digest", NOBODYS + "/events"])
def test_an_unknown_diagnosis_is_a_404(client, path):
    found = problem(client.get(f"/v1/diagnoses/{path}"), 404)
    assert found.type == "urn:firstfault:problem:not-found"


def test_a_digest_that_is_not_ready_is_a_409(client):
    location = client.post(POST, content=b"sleep 1").headers["location"]
    assert "not ended" in problem(client.get(location + "/digest"), 409).detail


def test_a_path_that_nobody_serves_is_a_404(client):
    assert "/docs" in problem(client.get("/v2/nothing"), 404).detail


def test_a_method_that_a_path_does_not_have_is_a_405_that_names_those_it_has(client):
    found = client.put(POST, content=b"x")
    problem(found, 405)
    assert found.headers["allow"] == "GET, POST"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("wait=601", "query.wait"),
        ("wait=soon", "query.wait"),
        ("attempt=-1", "query.attempt"),
        ("exit_code=99999999999", "query.exit_code"),
        ("job_typ=x", "query.job_typ"),
        ("job_id=a%00b", "query.job_id"),
    ],
)
def test_a_query_that_does_not_fit_is_a_422_that_names_the_field(client, query, field):
    found = problem(client.post(f"{POST}?{query}", content=b"a line"), 422)
    assert [error.field for error in found.errors] == [field]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=201", "cursor=x", "since=0.5", "since=x", "a=1"]
)
def test_a_list_query_that_does_not_fit_is_a_422(client, query):
    assert problem(client.get(f"{POST}?{query}"), 422).errors


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({}, "body.log"),
        ({"log": {}}, "body.log"),
        ({"log": "a line"}, "body.log"),
        ({"log": {"text": ""}}, "body.log.text.text"),
        ({"log": {"uri": "s3://b/a"}}, "body.log.uri.uri"),
        ({"log": {"uris": []}}, "body.log.uris.uris"),
        ({"log": {"text": "x", "uri": "file:///x"}}, "body.log.uri.text"),
        ({"log": {"text": "x"}, "job": {"jobid": "1"}}, "body.job.jobid"),
        ({"log": {"text": "x"}, "job": {"attempt": "many"}}, "body.job.attempt"),
        ([], "body"),
    ],
)
def test_a_document_that_does_not_fit_is_a_422_that_names_the_field(client, document, field):
    found = problem(client.post(POST, json=document), 422)
    assert [error.field for error in found.errors] == [field]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"log": {"text": "\\ud800"}}'])
def test_a_body_that_is_no_json_is_a_400(client, body):
    problem(client.post(POST, content=body, headers={"Content-Type": "application/json"}), 400)


def test_the_value_that_was_wrong_is_not_repeated(client):
    document = {"log": {"text": "x"}, "job": {"attempt": "hunter2"}}
    assert "hunter2" not in client.post(POST, json=document).text


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "text/plain", "Content-Encoding": "br"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
def test_a_body_of_a_kind_that_is_not_taken_is_a_415(client, headers):
    assert problem(client.post(POST, content=b"x", headers=headers), 415).detail


def test_an_empty_log_is_a_422(client):
    assert problem(client.post(POST, content=b""), 422).detail == "the log is empty"


def test_a_body_that_is_not_compressed_as_it_says_is_a_422(client):
    found = client.post(POST, content=b"plain text", headers={"Content-Encoding": "gzip"})
    assert "not gzip" in problem(found, 422).detail


def test_a_log_outside_of_the_roots_is_a_403_and_a_missing_one_a_404(client, server):
    inside = f"file://{server.data.parent}/logs/gone.log"
    problem(client.post(POST, json={"log": {"uri": inside}}), 404)
    found = problem(client.post(POST, json={"log": {"uri": "file:///etc/passwd"}}), 403)
    assert "FIRSTFAULT_LOG_ROOTS" in found.detail


def test_a_body_that_says_it_is_too_large_is_a_413_before_it_is_sent(client):
    connection = http.client.HTTPConnection(client.base_url.netloc.decode())
    connection.putrequest("POST", POST)
    connection.putheader("Content-Length", str(65 << 20))
    connection.endheaders()  # and not a byte of the body
    found = connection.getresponse()
    assert found.status == json.loads(found.read())["status"] == 413
    connection.close()


def test_a_json_document_that_is_too_large_is_a_413(client):
    text = json.dumps({"log": {"text": "x" * (9 << 20)}}).encode()
    halves = (text[: 8 << 20], text[8 << 20 :])
    found = client.post(POST, content=iter(halves), headers={"Content-Type": "application/json"})
    problem(found, 413)


def test_a_callers_request_id_is_kept_if_it_is_harmless(client):
    given = client.get("/healthz", headers={"X-Request-ID": "job-4711.a"})
    assert given.headers["x-request-id"] == "job-4711.a"
    refused = client.get("/healthz", headers={"X-Request-ID": "a b\t<script>"})
    assert refused.headers["x-request-id"].isalnum()


def test_every_answer_has_the_secure_headers(client):
    for path in ("/healthz", "/nothing", "/docs", "/v1/diagnoses"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "server" not in headers


def test_a_gzip_bomb_is_only_stored(client, server):
    bomb = gzip.compress(bytes(20 << 20))
    accepted = client.post(POST, content=bomb, headers={"Content-Encoding": "gzip"})
    assert accepted.status_code == 202
    kept = [path.stat().st_size for path in (server.data / "uploads").rglob("log")]
    assert max(kept) < 10 << 20
