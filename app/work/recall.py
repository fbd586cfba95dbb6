"""Ask the keeper of memory, from any process: one line of JSON there, one back, over a socket.

A diagnosis does not wait for its precedents: where the keeper is slow, busy or gone, the answer is
that there are none, with the reason.
"""

import json
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypedDict

import structlog

from app.errors import StoreError
from app.incident import IndexState, Precedent, Recalled, Snippet
from app.work import journal

_MOST_BYTES = 1 << 20

log = structlog.get_logger()


class Question(TypedDict, total=False):
    """What a line to the keeper says."""

    do: Literal["nearest", "search", "catch_up", "state"]
    lines: list[str]
    text: str
    most: int
    but: str | None
    about: dict[str, str]


@dataclass(frozen=True, slots=True)
class Task:
    """What a keeper is told when it starts."""

    database: str
    folder: str
    socket: str
    chroma_url: str | None
    embedder: str
    most: int


class Recall:
    """Asks through the socket of a keeper, waiting no longer than so many seconds."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._path = path
        self._seconds = seconds

    def nearest(self, snippet: Snippet, most: int = 5, but: str | None = None) -> Recalled:
        """Find incidents like this one; a failure of the keeper is told in the note."""
        try:
            told = self._ask(
                {"do": "nearest", "lines": list(snippet.lines), "most": most, "but": but}
            )
        except StoreError as error:
            log.warning("diagnosed without precedents", detail=str(error))
            return Recalled(note=str(error))
        return recalled(told)

    def search(self, text: str, most: int = 10) -> Recalled:
        """Find incidents by words or lines of a log, which the keeper masks."""
        try:
            return recalled(self._ask({"do": "search", "text": text, "most": most}))
        except StoreError as error:
            return Recalled(note=str(error))

    def catch_up(self) -> int:
        """Have what is new taken in now; raise StoreError."""
        return int(json.loads(self._ask({"do": "catch_up"}))["count"])

    def state(self) -> IndexState:
        """Tell how the index fares; raise StoreError."""
        return IndexState(**json.loads(self._ask({"do": "state"})))

    def _ask(self, question: Question) -> bytes:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
                line.settimeout(self._seconds)
                line.connect(str(self._path))
                line.sendall(json.dumps({**question, "about": journal.present()}).encode() + b"\n")
                with line.makefile("rb") as answers:
                    told = answers.readline(_MOST_BYTES)
        except (FileNotFoundError, ConnectionRefusedError) as error:
            why = "their keeper does not run; its log says why"
            raise StoreError(f"past incidents cannot be asked: {why}") from error
        except OSError as error:
            reason = "they were not found in time" if isinstance(error, TimeoutError) else error
            raise StoreError(f"past incidents cannot be asked: {reason}") from error
        if not told.endswith(b"\n"):
            raise StoreError("past incidents cannot be asked: their keeper broke off")
        if told.startswith(b'{"error"'):
            raise StoreError(f"past incidents cannot be asked: {json.loads(told)['error']}")
        return told


def spelt(found: Recalled) -> str:
    """Write what was recalled as JSON."""
    return json.dumps(asdict(found))


def recalled(text: str | bytes) -> Recalled:
    """Read what `spelt` wrote."""
    told = json.loads(text)
    precedents = tuple(Precedent(**one) for one in told["precedents"])
    return Recalled(precedents, told["agreed"], told["note"])
