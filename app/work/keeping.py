"""Have a keeper of memory running for as long as the service does."""

import asyncio
import contextlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import structlog

from app.memory.folder import index_folder, mark_of
from app.work.chores import repeat
from app.work.recall import Task

_GLANCE_SECONDS = 1.0
_PATIENCE = (1.0, 5.0, 30.0)  # between starts of a keeper that dies
_END_SECONDS = 3

_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)

log = structlog.get_logger()


class Keeping:
    """Starts a keeper, and another one when it dies; `socket` is where it is asked."""

    def __init__(
        self,
        database: str,
        folder: Path,
        *,
        chroma_url: str | None,
        embedder: str,
        most: int,
    ) -> None:
        # A path of a socket holds 107 bytes, which those of data folders may pass.
        self._folder = Path(tempfile.mkdtemp(prefix="firstfault-"))
        self.socket = self._folder / "memory"
        self._task = Task(
            database=database,
            folder=str(folder),
            socket=str(self.socket),
            chroma_url=chroma_url,
            embedder=embedder,
            most=most,
        )
        self._deaths = 0
        self._process = self._start()

    async def keep(self) -> None:
        """Look after the keeper until cancelled."""
        await repeat({"memory": self._look}, _GLANCE_SECONDS)

    async def _look(self) -> None:
        """Start another keeper where the present one has ended."""
        if self._process.poll() is None:
            return
        pause = _PATIENCE[min(self._deaths, len(_PATIENCE) - 1)]
        status = self._process.returncode
        log.error("memory ended", status=status, retry_seconds=pause)
        self._deaths += 1
        if -status in _CRASHES:
            await asyncio.to_thread(self._blame_index)
        await asyncio.sleep(pause)
        self._hang_up()
        self._process = self._start()

    def _blame_index(self) -> None:
        """Have the next keeper begin the index anew: no other part of it can crash."""
        folder = Path(self._task.folder)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        mark_of(index_folder(folder)).touch()

    def close(self) -> None:
        """End the keeper."""
        self._hang_up()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _hang_up(self) -> None:
        if self._process.stdin:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()

    def _start(self) -> subprocess.Popen[bytes]:
        """Start one; the task goes through its standard input, since the URL holds a password."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "app.work.keeper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the service, with which it ends
        )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(asdict(self._task)).encode() + b"\n")
            process.stdin.flush()
        return process
