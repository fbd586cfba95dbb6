"""The process that owns memory: index, words and embedder live here and nowhere else.

Chroma's folder bears one process alone, a model takes hundreds of MB, and both may take their
process down. So they have one of their own, which the service starts again when it dies. It is told
what to do in one line on standard input and ends when that closes, hence with the service, however
that ends.
"""

import json
import os
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import structlog

from app.errors import FirstFaultError, StoreError
from app.incident import Snippet
from app.memory.embed import embedder
from app.memory.folder import index_folder
from app.memory.index import Index
from app.memory.nearest import Memory
from app.memory.snippet import of_text
from app.store.database import connect
from app.store.incidents import Incidents
from app.store.lock import FolderLock
from app.work import journal
from app.work.recall import Task, spelt

_LOOK_SECONDS = 1.0  # between looks for new incidents
_PATIENCE_SECONDS = 15.0  # for the lock, while the process before this one ends
_NICENESS = 10
_MOST_BYTES = 1 << 20

log = structlog.get_logger()


def index_of(
    folder: Path, chroma_url: str | None, patience_seconds: float = 0
) -> Callable[[str], Index]:
    """Say how to open the index of a space; a folder is claimed for this process, for good.

    Raises StoreError where the folder is another's for longer than the patience.
    """
    if chroma_url is None:
        _claim(folder, patience_seconds)

    def open_index(space: str) -> Index:
        from app.memory import chroma  # takes a second to import; needed from the first incident on

        if chroma_url is not None:
            return chroma.served(chroma_url, space)
        return chroma.embedded(index_folder(folder), space)

    return open_index


def _claim(folder: Path, patience_seconds: float) -> FolderLock:
    end = time.monotonic() + patience_seconds
    while True:
        try:
            return FolderLock(folder)
        except StoreError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


class _Answering(socketserver.StreamRequestHandler):
    """Answers one question."""

    server: "_Server"

    def handle(self) -> None:
        self.wfile.write(self.server.told(self.rfile.readline(_MOST_BYTES)).encode() + b"\n")


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path: str, memory: Memory) -> None:
        super().__init__(path, _Answering)
        self._memory = memory

    def told(self, line: bytes) -> str:
        """Answer a question; its lines in the log name the diagnosis that it is about."""
        try:
            question = dict(json.loads(line))
            about = dict(question.get("about") or {})
        except (ValueError, TypeError) as error:
            return json.dumps({"error": str(error)})
        with journal.about(about.get("diagnosis_id"), about.get("request_id")):
            try:
                return self._answer(question)
            except (FirstFaultError, ValueError, KeyError, TypeError) as error:
                log.warning("a question was not answered", detail=str(error))
                return json.dumps({"error": str(error)})

    def _answer(self, question: dict[str, object]) -> str:
        if question["do"] == "state":
            return json.dumps(asdict(self._memory.state))
        if question["do"] == "catch_up":
            return json.dumps({"count": self._memory.catch_up()})
        most, but = question["most"], question.get("but")
        if not isinstance(most, int):
            raise ValueError("a question names how many are wanted")
        if question["do"] == "search":
            return spelt(self._memory.search(of_text(str(question["text"])), most))
        lines = question["lines"]
        if not isinstance(lines, list):
            raise ValueError("a question names lines")
        snippet = Snippet(tuple(map(str, lines)))
        found = self._memory.nearest(snippet, most, str(but) if but else None)
        if found.note:
            log.warning("precedents found without the index", detail=found.note)
        return spelt(found)

    def handle_error(self, request: object, client_address: object) -> None:
        """Pass over a caller that went away before its answer; tell of all else."""
        if not isinstance(sys.exception(), OSError):
            log.exception("a question ended badly")


def keep(task: Task) -> None:
    """Keep memory until standard input closes."""
    chosen = embedder(task.embedder)
    shelf = Incidents(connect(task.database))
    open_index = index_of(Path(task.folder), task.chroma_url, _PATIENCE_SECONDS)
    memory = Memory(shelf, chosen, lambda: open_index(chosen.name), most=task.most)
    Path(task.socket).unlink(missing_ok=True)
    with _Server(task.socket, memory) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        threading.Thread(target=_look, args=(memory,), daemon=True).start()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()
    os._exit(0)  # not waiting for threads; nothing here is needed again


def _look(memory: Memory) -> None:
    """Take in what is new, for ever; the same fault is told of once, as long as it lasts."""
    told = ""
    while True:
        try:
            memory.catch_up()
            told = ""
        except Exception as error:  # noqa: BLE001  the edge of a background run, which must go on
            if repr(error) != told:
                told = repr(error)
                log.warning("memory", detail=str(error), exc_info=_unforeseen(error))
        time.sleep(_LOOK_SECONDS)


def _unforeseen(error: Exception) -> Exception | None:
    return None if isinstance(error, FirstFaultError) else error


def main() -> None:
    """Read the task and keep memory; a fault of the settings is told and ends the process."""
    os.nice(_NICENESS)
    journal.set_up("memory")
    task = Task(**json.loads(sys.stdin.readline()))
    try:
        keep(task)
    except FirstFaultError as error:
        log.error("memory", detail=str(error))
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
