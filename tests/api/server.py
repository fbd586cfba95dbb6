"""Server processes for tests."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from tests.places import CACHE
from tests.waiting import PATIENCE_SECONDS, until

FAKE = (str(Path(__file__).with_name("fake_server.py")),)
REAL = ("-m", "app.cli.main", "serve")


@dataclass
class Server:
    """A server process of its own, usually with the fake reader in its workers."""

    process: subprocess.Popen[str]
    url: str
    data: Path
    log: Path

    def client(self, timeout: float = 90) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, timeout=timeout)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def workers(self) -> list[int]:
        found = subprocess.run(
            ["pgrep", "-P", str(self.process.pid), "-f", "spawn_main"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return [int(pid) for pid in found.stdout.split()]


def start(
    data: Path,
    *,
    program: Sequence[str] = FAKE,
    file_size_limit: int | None = None,
    **settings: object,
) -> Server:
    """Start a server and wait for the line with its URL."""
    cache = data / "cache" if "rules_dir" in settings else CACHE
    chosen = {"data_dir": data, "cache_dir": cache, "port": 0, "workers": 1, **settings}
    env = {k: v for k, v in os.environ.items() if not k.startswith("FIRSTFAULT_")}
    env |= {f"FIRSTFAULT_{name.upper()}": str(value) for name, value in chosen.items()}
    limit = ["prlimit", f"--fsize={file_size_limit}"] if file_size_limit else []
    data.mkdir(exist_ok=True, parents=True)
    log = data / "stderr.log"
    with log.open("a") as stderr:
        process = subprocess.Popen(
            [*limit, sys.executable, *program],
            env=env, stdout=subprocess.PIPE, stderr=stderr, text=True, start_new_session=True,
        )  # fmt: skip
    assert process.stdout is not None
    told, _, _ = select.select([process.stdout], [], [], PATIENCE_SECONDS)
    line = process.stdout.readline() if told else ""
    if not line:
        process.kill()
        process.stdout.close()
        process.wait(10)
        raise AssertionError(f"the server did not start: {log.read_text()}")
    return Server(process, line.split()[3], data, log)


@contextmanager
def running(data: Path, *, program: Sequence[str] = FAKE, **settings: object) -> Iterator[Server]:
    server = start(data, program=program, **settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()
        assert server.process.stdout is not None
        server.process.stdout.close()


def ended(client: httpx2.Client, id: str, seconds: float = PATIENCE_SECONDS) -> dict[str, object]:
    """Poll until a diagnosis has ended."""

    def answer() -> dict[str, object] | None:
        found = client.get(f"/v1/diagnoses/{id}").json()
        return found if found["status"] in ("complete", "failed") else None

    return until(answer, seconds, f"the end of {id}") or {}
