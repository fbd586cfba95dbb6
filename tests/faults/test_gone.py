"""Parts that stop and come back, with the real ones: what docs/operation.md says of each."""

import gzip
import json
import re
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from tests.api.server import REAL, ended, running
from tests.api.test_exits import SECRETS, post, report
from tests.postgres import MISSING, free_port, postgres
from tests.waiting import until

LOG = b"Traceback (most recent call last):\n  File 'a.py', line 1, in <module>\nKeyError: 'x'\n"


def upload(client, body, **query):
    return client.post("/v1/diagnoses", content=body, params=query)


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_without_its_database_the_service_says_so_and_with_it_finishes_what_it_took(tmp_path):
    with (
        postgres() as server,
        running(tmp_path, database_url=server.url) as served,
        served.client(timeout=60) as client,
    ):
        id = upload(client, b"sleep 4\ncause KeyError").json()["id"]
        until(lambda: client.get(f"/v1/diagnoses/{id}").json()["status"] == "running")
        server.stop()
        refused = upload(client, b"cause NameError")
        assert refused.status_code == 503
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.headers["retry-after"] == "10"
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503
        server.start()
        assert ended(client, id, 60)["primary"]["cause"] == "KeyError"
        again = until(lambda: _accepted(client, b"cause NameError"))
        assert ended(client, again, 60)["primary"]["cause"] == "NameError"
        assert client.get("/readyz").status_code == 200


def _accepted(client, body) -> str | None:
    answer = upload(client, body)
    return answer.json()["id"] if answer.status_code == 202 else None


@pytest.fixture
def chroma(tmp_path):
    """Start the server of a folder at its port, again and again."""
    program, port = Path(sys.executable).with_name("chroma"), free_port()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    servers = []

    def start(folder: str) -> subprocess.Popen:
        command = [program, "run", "--path", tmp_path / folder, "--host", "127.0.0.1"]
        servers.append(subprocess.Popen([*map(str, command), "--port", str(port)], **quiet))
        return servers[-1]

    start.url = f"http://127.0.0.1:{port}"
    yield start
    for server in servers:
        server.kill()
        server.wait()


def test_without_its_chroma_server_all_goes_on_and_a_new_one_is_filled_again(tmp_path, chroma):
    chosen = {"program": REAL, "chroma_url": chroma.url, "memory_seconds": 20}
    with running(tmp_path / "data", **chosen) as served, served.client(timeout=120) as client:
        named = {"x-request-id": "a-caller-at-night"}
        first = client.post("/v1/diagnoses?wait=60", content=LOG).json()
        assert first["primary"]["cause"] == "KeyError"
        word = {"verdict": "confirm", "by": "ann"}
        assert client.post(f"/v1/diagnoses/{first['id']}/feedback", json=word).status_code == 201
        until(lambda: _found(client))  # by words, since no Chroma was ever there
        until(lambda: _index(client) == ("gone", 0))

        dark = client.post("/v1/diagnoses?wait=60", content=LOG + b"2", headers=named).json()
        told = _lines(served, dark["id"])
        assert {line["part"] for line in told} == {"service", "memory"}
        assert {line["request_id"] for line in told} == {"a-caller-at-night"}

        server = chroma("one")
        until(lambda: _index(client)[0] == "whole")
        server.kill()
        server.wait()
        assert upload(client, LOG + b"3", wait=60).json()["primary"]["cause"] == "KeyError"
        assert _found(client)[0]["confirmed"]

        chroma("another")  # and empty: what the first one held is lost
        until(lambda: _index(client) == ("whole", 3), 90)
        assert _found(client)[0]["confirmed"]


def _index(client) -> tuple[str, float]:
    """How the index fares, and how much it holds."""
    text = client.get("/metrics").text
    state = re.search(r'firstfault_memory_index{state="(\w+)"} 1.0', text)
    held = re.search(r"firstfault_memory_indexed ([\d.]+)", text)
    return state[1], float(held[1])


def _lines(served, id: str) -> list[dict[str, object]]:
    """What the log of the service says of a diagnosis."""
    lines = [line for line in served.log.read_text().splitlines() if id in line]
    return [json.loads(line) for line in lines]


def _found(client):
    return client.get("/v1/incidents/search", params={"q": "KeyError x"}).json()["items"]


def test_a_log_that_goes_between_request_and_diagnosis_is_named_in_the_failure(tmp_path):
    roots = tmp_path / "logs"
    roots.mkdir()
    (roots / "a.log").write_text("cause KeyError")
    with running(tmp_path / "data", log_roots=roots) as served, served.client() as client:
        upload(client, b"sleep 1.5\ncause NameError")
        told = {"log": {"uri": f"file://{roots}/a.log"}}
        id = client.post("/v1/diagnoses", json=told).json()["id"]
        (roots / "a.log").unlink()
        failed = ended(client, id)
        assert failed["error"]["status"] == 404
        assert "a.log" in failed["error"]["detail"]


def test_a_report_from_a_clock_that_jumped_is_refused_and_taken_once_it_is_right(tmp_path):
    (tmp_path / "a.log").write_text("cause KeyError")
    chosen = {"log_roots": tmp_path, "webhook_secrets": SECRETS[0], "quiet_log_seconds": 0.1}
    with running(tmp_path / "data", **chosen) as served, served.client() as client:
        body = report(f"file://{tmp_path}/a.log")
        for hours in (-1, 1):
            jumped = post(client, body, id="one", at=datetime.now(UTC) + timedelta(hours=hours))
            assert jumped.status_code == 401
        assert post(client, body, id="one").status_code == 202
        (id,) = [each["id"] for each in client.get("/v1/diagnoses").json()["items"]]
        assert ended(client, id)["primary"]["cause"] == "KeyError"


def test_a_bomb_of_zeros_is_given_up_at_the_limit(tmp_path):
    packed = gzip.compress(bytes(1 << 20), 9) * 2048  # 2 GiB of zeros in 2 MiB
    chosen = {"max_log_bytes": "64MiB", "memory": False}
    with running(tmp_path, program=REAL, **chosen) as served, served.client(timeout=120) as client:
        began = time.monotonic()
        headers = {"Content-Encoding": "gzip"}
        answer: httpx2.Response = client.post(
            "/v1/diagnoses?wait=100", content=packed, headers=headers
        )
        assert answer.json()["error"]["status"] == 413, answer.text
        assert time.monotonic() - began < 60
