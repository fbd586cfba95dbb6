"""Report job exits at a steady rate, upload large logs, and tell how long answers take."""

import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from tests.api.server import REAL, Server, running
from tests.endurance.stream import SECRET, Stream, log_text

_BLOCK = 1 << 20
_FIRST_SECONDS = 2.0  # in which a fresh process opens what it needs


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
            time.sleep(_FIRST_SECONDS)
            first = len(stream.sent.seconds)
            time.sleep(seconds)
            stream.stop()
            for thread in threads:
                thread.join()
            done = _complete(server)
            sent = stream.sent
            print(
                f"{len(sent.ids)} reports of {rate:g} a second accepted, "
                f"{len(sent.lost)} lost, {sent.refused} told to come back; {done} diagnosed "
                f"meanwhile; time to the 202 in {seconds:g} s: {_told(sent.seconds[first:])}; "
                f"in the first {_FIRST_SECONDS:g} s of the process: {_told(sent.seconds[:first])}"
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
                f"{time.monotonic() - uploaded:.0f} s later; peak memory of the "
                f"service with its workers {_peak_mb(server)} MB; /healthz {_told(times)}"
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
    """Add up the peaks of the service and of the processes that it started."""
    kin = subprocess.run(
        ["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=False
    ).stdout.split()
    return sum(_peak_kb(pid) for pid in (str(server.process.pid), *kin)) >> 10


def _peak_kb(pid: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next((int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line), 0)


def _told(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    p99 = ordered[min(int(len(ordered) * 0.99), len(ordered) - 1)]
    return (
        f"median {statistics.median(ordered) * 1e3:.0f} ms, p99 {p99 * 1e3:.0f} ms, "
        f"worst {ordered[-1] * 1e3:.0f} ms"
    )
