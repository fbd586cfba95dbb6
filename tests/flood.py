"""Compress made-up streams of any length and tell the peak memory of the process.

    python -m tests.flood KIND:MEGABYTES …

Prints after each the lines that were read and are held, and the peak resident memory in MB so far.
"""

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from app.pipeline import Limits, compressed
from app.rulebook.compiled import Compiled
from app.rulebook.load import load

RULES = Path(__file__).parent.parent / "rules"
_CHUNK = 1 << 20


def _numbered(form: bytes) -> Callable[[int], bytes]:
    """Repeat a text with a number that never comes again."""
    each = len(form % 0)

    def chunk(place: int) -> bytes:
        first = place * 1_000_000
        return b"".join(form % (first + i) for i in range(_CHUNK // each))

    return chunk


def _distinct(place: int) -> bytes:
    """Lines of words, no two alike, so that no template folds them."""
    numbered = _numbered(b"%012d was seen beside the others\n")
    return numbered(place).translate(bytes.maketrans(b"0123456789", b"ghijklmnop"))


def _same(text: bytes) -> Callable[[int], bytes]:
    whole = text * (_CHUNK // len(text))
    return lambda place: whole


KINDS: dict[str, Callable[[int], bytes]] = {
    "no_newline": _same(b"abcdefghij klmnop "),
    "nul": _same(b"\0"),
    "blank": _same(b"\n"),
    "short": _same(b"a\n"),
    "bar": _same(b"\r 12%|###   | 12/100 [00:10<01:00, 3.1it/s]"),
    "states": _same(b"\ra\rb" * 500 + b"\n"),
    "coloured": _same(b"\x1b[32mab\x1b[0m"),
    "emoji": _same("😀 é CUDA error: out of memory 😀\n".encode()),
    "distinct": _distinct,
    "hits": _numbered(b"ValueError: shard %012d is broken\n"),
    "dense": _same(b"ValueError" * 100 + b"\n"),
}


class Flood(io.RawIOBase):
    """A stream of so many bytes."""

    def __init__(self, chunk: Callable[[int], bytes], size: int) -> None:
        self._chunk = chunk
        self._left = size
        self._place = 0
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        if not len(self._ready):
            self._ready = memoryview(self._chunk(self._place))
            self._place += 1
        got = min(len(buffer), len(self._ready), self._left)
        buffer[:got] = self._ready[:got]
        self._ready = self._ready[got:]
        self._left -= got
        return got


def _peak_mb() -> int:
    """Read it from the kernel: `getrusage` also counts the process that started this one."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) // 1024


def main() -> None:
    compiled = Compiled(load(RULES))
    for wanted in sys.argv[1:]:
        kind, _, megabytes = wanted.partition(":")
        log = compressed([Flood(KINDS[kind], int(megabytes) << 20)], compiled, Limits())
        told = {
            "kind": kind,
            "lines": log.total_lines,
            "held": len(log.lines),
            "templates": len(log.templates),
            "peak_mb": _peak_mb(),
        }
        print(json.dumps(told))
        del log


if __name__ == "__main__":
    main()
