"""Look once more into the files of a log, where what was kept of it is not enough.

A window of lines, or those that a pattern meets, in one pass over a file that may be of any size:
within a time, and of a bounded number of lines. What cannot be read a second time, such as a
stream, or is not at hand, holds nothing here.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import re2

from app.errors import SourceError
from app.read.blocks import Block, Buffers, blocks
from app.read.source import Source
from app.read.terminal import clean
from app.rulebook.pattern import Pattern

_LONGEST = 2000  # characters of a line
_PART = 2 * _LONGEST  # bytes of either end of a longer one
_MOST_SEEN = 2_000  # lines that a pattern meets
_NEWLINE = 10
_MEMORY = 64 << 20  # bytes of RE2


@dataclass(frozen=True, slots=True)
class Printed:
    """A line as it was printed, without what a terminal would not have left standing."""

    file: int
    number: int
    text: str


class Original:
    """The files of one log; it reads no longer than so many seconds at a time."""

    def __init__(
        self, sources: Sequence[Source], max_bytes: int, seconds: float, block_bytes: int = 1 << 20
    ) -> None:
        self._sources = sources
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._block_bytes = block_bytes

    def window(self, file: int, first: int, last: int) -> list[Printed]:
        """Give the lines between two numbers, both included."""
        found: list[Printed] = []
        for number, block in self._blocks(file):
            if number > last:
                break
            data = bytes(block.data)
            ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE)
            if number + len(ends) < first:
                continue
            for offset, raw in enumerate(data.split(b"\n")):
                if first <= number + offset <= last and not (block.continues and not offset):
                    found += _printed(file, number + offset, raw)
        return found

    def search(self, file: int, pattern: Pattern, most: int) -> tuple[list[Printed], int]:
        """Give the first and the last lines that a pattern meets, and how many it meets."""
        regexp = re2.compile(b"(?m)" + pattern.exact.encode("latin-1"), _options())
        met: list[Printed] = []
        count = 0
        for number, block in self._blocks(file):
            data = bytes(block.data)
            at, line = 0, number
            while count < _MOST_SEEN and (hit := regexp.search(data, at)):
                begin = data.rfind(b"\n", 0, hit.start()) + 1
                end = data.find(b"\n", hit.start())
                end = len(data) if end < 0 else end
                line += data.count(b"\n", at, begin)
                met += _printed(file, line, data[begin:end])[:1]
                count += 1
                at, line = end + 1, line + 1
                if len(met) > 2 * most:
                    del met[most : len(met) - most]
                if at > len(data):
                    break
        if len(met) > most:
            del met[most // 2 : len(met) - (most - most // 2)]
        return met, count

    def _blocks(self, file: int) -> Iterator[tuple[int, Block]]:
        """Give each block with the number of its first line, until the time is over."""
        source = self._sources[file] if file < len(self._sources) else None
        if source is None or source.path is None or not source.path.is_file():
            return
        end = time.monotonic() + self._seconds
        lines = 0
        try:
            for block in blocks(file, source, Buffers(2, self._block_bytes), self._max_bytes):
                yield lines + (0 if block.continues else 1), block
                view = np.frombuffer(block.data, np.uint8)
                whole = int(np.count_nonzero(view == _NEWLINE))
                open_end = int(len(view) > 0 and view[-1] != _NEWLINE)
                lines += whole + open_end - int(block.continues)
                del view
                block.release()
                if time.monotonic() > end:
                    return
        except SourceError:  # it was there when it was diagnosed; what is gone holds nothing
            return


def _printed(file: int, number: int, raw: bytes) -> list[Printed]:
    """Clean a line; of one that is very long, its begin and its end, where a bar stands last."""
    raw = raw.rstrip(b"\r\n")
    ends = [raw] if len(raw) <= 2 * _PART else [raw[:_PART], raw[-_PART:]]
    pieces = [piece for end in ends for piece in clean(end.decode("utf-8", "replace"))]
    return [Printed(file, number, piece[:_LONGEST]) for piece in pieces]


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_nl = True
    options.max_mem = _MEMORY
    return options
