"""A log as blocks of whole lines, in buffers that are used again.

Memory bound: one buffer of `BLOCK_BYTES` for each block that is not yet released. Where lines are
blank or very short a block ends early, since each line costs as well. A line longer than a buffer
is given in pieces; all pieces carry the number of that one line. What stands across a cut must not
be missed, so a piece begins with the last bytes of the one before it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from mmap import mmap
from queue import SimpleQueue

import numpy as np

from app.errors import SourceError
from app.read.decode import Text
from app.read.source import Source

BLOCK_BYTES = 8 << 20  # RE2 compiles the filters anew for each block: below 8 MB that shows
_SMALL = 1 << 16
_OVERLAP = 4096
_NEWLINE = 10
_SHORT_LINE = 16  # bytes
_PARTS = 16
_EACH, _SAMPLE = 1 << 17, 1 << 12


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of one file, at least one.

    `continues` says that the first line is a further piece of the last line of the block before;
    its first `repeated` bytes were given there already. `release` gives the buffer back.
    """

    file: int
    data: memoryview
    continues: bool
    repeated: int
    release: Callable[[], None]


class Buffers:
    """At most `count` buffers; `take` waits until one is free. Any thread may `give`."""

    def __init__(self, count: int, size: int = BLOCK_BYTES) -> None:
        self.size = size
        self._free: SimpleQueue[mmap] = SimpleQueue()
        self._unmade = count

    def take(self) -> mmap:
        """Take a free buffer; memory that no log fills is never touched."""
        if self._unmade and self._free.empty():
            self._unmade -= 1
            return mmap(-1, self.size)
        return self._free.get()

    def give(self, buffer: mmap) -> None:
        """Return a buffer."""
        self._free.put(buffer)


def blocks(file: int, source: Source, buffers: Buffers, max_bytes: int) -> Iterator[Block]:
    """Read one file to its end; raise SourceError where it cannot be read."""
    text = Text(source, max_bytes)
    try:
        yield from _cut(file, text, buffers)
    finally:
        text.close()


def _cut(file: int, text: Text, buffers: Buffers) -> Iterator[Block]:
    rest, repeated, continues, ended = b"", 0, False, False
    while True:
        buffer = buffers.take()
        view = memoryview(buffer)
        filled = len(rest)
        view[:filled] = rest
        try:
            filled = filled if ended else _fill(text, view, filled)
        except SourceError:
            buffers.give(buffer)
            raise
        ended = ended or filled < len(buffer)
        if filled == repeated:
            buffers.give(buffer)
            return
        cut = _first_lines(buffer, filled) or (filled if ended else _last_break(buffer))
        is_last = ended and cut == filled
        goes_on = not is_last and buffer[cut - 1] != _NEWLINE
        again = min(_OVERLAP, cut // 4) if goes_on else 0
        rest = bytes(view[cut - again : filled])
        yield Block(file, view[:cut], continues, repeated, partial(buffers.give, buffer))
        if is_last:
            return
        continues, repeated = goes_on, again


def _fill(text: Text, view: memoryview, filled: int) -> int:
    while filled < len(view):
        got = text.readinto(view[filled:])
        if not got:
            break
        filled += got
    return filled


def _first_lines(buffer: mmap, filled: int) -> int:
    """Cut early where samples show very short lines; 0 where they do not."""
    places = filled // _EACH
    samples = np.frombuffer(buffer, np.uint8, places * _EACH).reshape(places, _EACH)[:, :_SAMPLE]
    if np.count_nonzero(samples == _NEWLINE) * _SHORT_LINE < samples.size or not places:
        return 0
    return buffer.rfind(b"\n", 0, filled // _PARTS) + 1


def _last_break(buffer: mmap) -> int:
    """Cut after the last line; within an endless line, after its last blank or bar state."""
    cut = buffer.rfind(b"\n") + 1
    if cut:
        return cut
    tail = max(len(buffer) // 2, len(buffer) - _SMALL)
    return max(buffer.rfind(b" ", tail), buffer.rfind(b"\r", tail)) + 1 or len(buffer)
