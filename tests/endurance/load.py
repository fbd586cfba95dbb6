"""Report job exits at a steady rate, upload large logs, and tell how long answers take."""

import statistics
import tempfile
import threading
import time
from pathlib import Path

from tests.api.server import REAL, Server, running
from tests.endurance.stream import SECRET, Stream, log_text

_BLOCK = 1 << 20


def webhooks(rate: float, seconds: float, size: int) -> int:
    """Report exits; print the times of acceptance and what was lost."""
    with tempfile.TemporaryDirectory(prefix="endurance-") as name:
        folder = Path(name)
        (folder / "logs").mkdir()
        settings = {
            "log_roots": folder / "logs", "webhook_secrets": SECRET, "quiet_log_seconds": 1,
            "late_log_seconds": 0, "queue_limit": 100_000, "workers": 2,
        }  # fmt: skip
        with running(folder / "data", program=REAL, **settings) as server:
            stream = Stream(folder / "logs", [server.url], rate, size)
            threads = stream.run(senders=16)
            time.sleep(seconds)
            stream.stop()
            for thread in threads:
                thread.join()
            done = _complete(server)
            sent = stream.sent
            print(
                f"{len(sent.ids)} reports of {rate:g} a second accepted in {seconds:g} s, "
                f"{len(sent.lost)} lost, {sent.refused} told to come back; time to the 202: "
                f"median {statistics.median(sent.seconds) * 1e3:.0f} ms, "
                f"p99 {_share(sent.seconds, 0.99) * 1e3:.0f} ms, "
                f"worst {max(sent.seconds) * 1e3:.0f} ms; {done} diagnosed meanwhile"
            )
            end = time.monotonic() + 20 * seconds
            while (done := _complete(server)) < len(sent.ids) and time.monotonic() < end:
                time.sleep(1)
            print(f"{done} diagnosed {time.monotonic() - end + 20 * seconds:.0f} s later")
            return len(sent.lost) + len(sent.ids) - done


def uploads(count: int, size: int) -> int:
    """Upload large logs at once; print the memory of the service and how it answers."""
    with tempfile.TemporaryDirectory(prefix="endurance-") as name:
        settings = {"workers": 2, "max_upload_bytes": 2 * size}
        with running(Path(name), program=REAL, **settings) as server:
            done, times = threading.Event(), []
            watcher = threading.Thread(target=_watch, args=(server, done, times))
            watcher.start()
            ids: list[str] = []
            threads = [
                threading.Thread(target=_upload, args=(server, size, number, ids))
                for number in range(count)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            uploaded = time.monotonic()
            _until_ended(server, ids)
            done.set()
            watcher.join()
            print(
                f"{len(ids)} uploads of {size >> 20} MB accepted; diagnosed "
                f"{time.monotonic() - uploaded:.0f} s later; peak memory of the service "
                f"{_peak_mb(server)} MB; /healthz median {statistics.median(times) * 1e3:.0f} ms, "
                f"p99 {_share(times, 0.99) * 1e3:.0f} ms, worst {max(times) * 1e3:.0f} ms"
            )
            return count - len(ids)


def _upload(server: Server, size: int, number: int, ids: list[str]) -> None:
    text = log_text("KeyError", _BLOCK).encode()

    def blocks():
        yield b"run %d\n" % number
        for _ in range(size // len(text)):
            yield text

    with server.client(timeout=600) as client:
        answer = client.post("/v1/diagnoses", content=blocks())
        if answer.status_code == 202:
            ids.append(answer.json()["id"])


def _watch(server: Server, done: threading.Event, times: list[float]) -> None:
    with server.client() as client:
        while not done.is_set():
            began = time.monotonic()
            client.get("/healthz").raise_for_status()
            times.append(time.monotonic() - began)
            time.sleep(0.05)


def _until_ended(server: Server, ids: list[str]) -> None:
    with server.client() as client:
        for id in ids:
            while client.get(f"/v1/diagnoses/{id}").json()["status"] not in ("complete", "failed"):
                time.sleep(0.5)


def _complete(server: Server) -> int:
    with server.client() as client:
        lines = client.get("/metrics").text.splitlines()
    values = [
        line.split()[-1] for line in lines if line.startswith("firstfault_diagnoses_complete_t")
    ]
    return int(sum(map(float, values)))


def _peak_mb(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) >> 10


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]
