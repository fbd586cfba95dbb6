"""A scheduler that reports job exits, again and again until each is accepted."""

import base64
import json
import random
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx2
from standardwebhooks import Webhook

SECRET = "whsec_" + base64.b64encode(b"endurance" * 3).decode()
_PATIENCE_SECONDS = 60.0  # that one report is repeated

CAUSES = {
    "KeyError": "KeyError: 'input_ids'",
    "ValueError": "ValueError: batch size must be positive",
    "OutOfMemoryError": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
    "GPU 0 has a total capacity of 79.10 GiB of which 1.20 GiB is free.",
}


def log_text(cause: str, size: int = 4_000) -> str:
    """Write a log of about `size` bytes that ends for a known cause."""
    steps = "".join(
        f"step {n} | loss {2.5 - n / 1e5:.4f} | grad norm 0.88 | 1.02 s/step\n"
        for n in range(1, max(size // 52, 2))
    )
    return (
        f"{steps}Traceback (most recent call last):\n"
        f'  File "/srv/train.py", line 88, in <module>\n    main()\n{CAUSES[cause]}\n'
    )


@dataclass
class Sent:
    """What was reported and accepted, by job: its diagnosis, its cause, the seconds it took."""

    ids: dict[str, str] = field(default_factory=dict)
    causes: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    lost: list[str] = field(default_factory=list)


class Stream:
    """Reports `rate` exits a second until stopped; `urls` gives the servers that may live."""

    def __init__(self, folder: Path, urls: list[str], rate: float, size: int = 4_000) -> None:
        self.sent = Sent()
        self._urls = urls
        self._rate = rate
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._dice = random.Random(7)
        self._logs = {}
        for cause in CAUSES:
            self._logs[cause] = folder / f"{cause}.log"
            self._logs[cause].write_text(log_text(cause, size))
        self._count = 0

    def run(self, senders: int = 8) -> list[threading.Thread]:
        """Begin; the threads end soon after `stop`."""
        threads = [threading.Thread(target=self._send, args=(senders,)) for _ in range(senders)]
        for thread in threads:
            thread.start()
        return threads

    def stop(self) -> None:
        """Report nothing more."""
        self._stop.set()

    def _send(self, senders: int) -> None:
        pause = senders / self._rate
        due = time.monotonic() + self._dice.random() * pause
        with httpx2.Client(timeout=10) as client:
            while not self._stop.is_set():
                time.sleep(max(due - time.monotonic(), 0))
                due += pause
                self._report(client)

    def _report(self, client: httpx2.Client) -> None:
        with self._lock:
            self._count += 1
            job = f"job-{self._count}"
            cause = self._dice.choice(list(CAUSES))
        data = {
            "scheduler": "slurm", "cluster": "endurance", "job_id": job, "attempt": 0,
            "state": "FAILED", "exit_code": 1, "log_uri": self._logs[cause].as_uri(),
        }  # fmt: skip
        body = json.dumps({"type": "job.exited", "timestamp": "2026-11-30T00:00:00Z", "data": data})
        end = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end:
            began = time.monotonic()
            answer = self._post(client, job, body)
            if answer is not None and answer.status_code == 202:
                with self._lock:
                    self.sent.ids[job] = answer.json()["id"]
                    self.sent.causes[job] = cause
                    self.sent.seconds.append(time.monotonic() - began)
                return
            with self._lock:
                self.sent.refused += answer is not None
            time.sleep(0.2)
        with self._lock:
            self.sent.lost.append(job)

    def _post(self, client: httpx2.Client, job: str, body: str) -> httpx2.Response | None:
        at = datetime.now(UTC)
        headers = {
            "webhook-id": job,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": Webhook(SECRET).sign(job, at, body),
        }
        url = self._dice.choice(self._urls)
        try:
            return client.post(f"{url}/v1/webhooks/job-exit", content=body, headers=headers)
        except httpx2.HTTPError:
            return None
