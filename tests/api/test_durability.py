"""What survives: a server that is killed, a worker that is killed, a disk that is full."""

import contextlib
import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.api.server import ended, running, start
from tests.waiting import until

LINE = b"step 1 | loss 2.31 | grad norm 0.88 | 412 tokens a second\n"


def upload(client, body, **query):
    return client.post("/v1/diagnoses", content=body, params=query)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@dataclass
class Killed:
    """A server that was killed with a full queue and an upload under way, and what it had said."""

    data: Path
    ids: list[str]
    refused: httpx2.Response
    workers: list[int]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    data = tmp_path_factory.mktemp("killed")
    with running(data, queue_limit=3) as server, server.client() as client:

        def slowly():
            for _ in range(500):
                yield LINE * 2000
                time.sleep(0.02)

        def send():
            with server.client() as other, contextlib.suppress(httpx2.HTTPError):
                upload(other, slowly())

        sender = threading.Thread(target=send)
        sender.start()
        until(lambda: list((data / "uploads" / "incoming").iterdir()))
        bodies = [b"sleep %d\ncause KeyError" % seconds for seconds in (2, 0, 0, 0)]
        ids = [upload(client, body).json()["id"] for body in bodies]
        refused = upload(client, b"one too many")
        workers = server.workers()
        server.kill()
        sender.join()
    return Killed(data, ids, refused, workers)


def test_a_full_queue_is_a_429_that_says_when_to_come_back(killed):
    assert killed.refused.status_code == 429
    assert 1 <= int(killed.refused.headers["retry-after"]) <= 60
    assert killed.refused.json()["type"] == "urn:firstfault:problem:busy"


def test_workers_do_not_outlive_a_server_that_was_killed(killed):
    assert len(killed.workers) == 1
    until(lambda: not any(map(alive, killed.workers)))


def test_what_was_accepted_survives_the_kill_and_nothing_half_sent_is_seen(killed):
    assert len(list((killed.data / "uploads").glob("??/*/log"))) == 2  # three were the same
    with running(killed.data) as server, server.client() as client:
        found = [ended(client, id) for id in killed.ids]
        assert [one["primary"]["cause"] for one in found] == ["KeyError"] * 4
        assert len(client.get("/v1/diagnoses").json()["items"]) == 4


@pytest.fixture(scope="module")
def sturdy(tmp_path_factory):
    with running(tmp_path_factory.mktemp("sturdy"), max_upload_bytes=60 << 20) as server:
        yield server


def test_a_worker_killed_from_outside_costs_its_diagnosis_nothing(sturdy):
    with sturdy.client() as client:
        id = upload(client, b"sleep 1\ncause KeyError").json()["id"]
        until(lambda: client.get(f"/v1/diagnoses/{id}").json()["status"] == "running")
        os.kill(sturdy.workers()[0], signal.SIGKILL)
        assert ended(client, id)["primary"]["cause"] == "KeyError"
        assert "firstfault_worker_deaths_total 1.0" in client.get("/metrics").text


def test_a_log_that_kills_its_worker_twice_has_failed_with_a_clear_error(sturdy, tmp_path):
    with sturdy.client() as client:
        once = upload(client, f"die unless {tmp_path}/mark\ncause KeyError", wait=60).json()
        always = upload(client, b"die", wait=60).json()
        assert once["primary"]["cause"] == "KeyError"
        assert always["error"]["kind"] == "WorkerKilled"
        assert "killed 2 times" in always["error"]["detail"]


def test_a_large_upload_is_streamed_while_health_is_answered(sturdy):
    block = LINE * 18_000  # about 1 MB
    done, times = threading.Event(), []

    def look():
        with sturdy.client() as other:
            while not done.is_set():
                began = time.monotonic()
                assert other.get("/healthz").status_code == 200
                times.append(time.monotonic() - began)

    watcher = threading.Thread(target=look)
    watcher.start()
    with sturdy.client() as client:
        try:
            accepted = upload(client, (block for _ in range(50)))
        finally:
            done.set()
            watcher.join()
        assert accepted.status_code == 202
        assert len(times) > 5  # it was answered again and again meanwhile
        status = Path(f"/proc/{sturdy.process.pid}/status").read_text()
        peak_kb = next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line)
        assert peak_kb < 200_000  # the log was not held in memory
        refused = upload(client, (block for _ in range(80)))
        assert refused.status_code == 413
    assert list((sturdy.data / "uploads" / "incoming").iterdir()) == []


def test_a_full_disk_is_a_503_that_leaves_nothing_and_passes(tmp_path):
    with running(tmp_path, file_size_limit=3 << 20) as server, server.client() as client:
        refused = upload(client, LINE * 80_000)
        assert refused.status_code == 503
        assert refused.headers["content-type"] == "application/problem+json"
        assert list((tmp_path / "uploads" / "incoming").iterdir()) == []
        assert upload(client, b"cause KeyError", wait=60).status_code == 200


def test_a_server_that_is_told_to_stop_goes_without_noise_and_keeps_its_work(tmp_path):
    with running(tmp_path) as server, server.client() as client:
        with pytest.raises(AssertionError, match="served by another process"):
            start(tmp_path)
        id = upload(client, b"sleep 1\ncause KeyError").json()["id"]
        began = time.monotonic()
        os.killpg(server.process.pid, signal.SIGTERM)  # as systemd and timeout do
        assert server.process.wait(30) in (0, -signal.SIGTERM)
        assert time.monotonic() - began < 20
        assert "Traceback" not in server.log.read_text()
    with running(tmp_path) as server, server.client() as client:
        assert ended(client, id)["status"] == "complete"
