"""A log as blocks of whole lines, in buffers that are used again.

Memory bound: one buffer of `block_bytes` for each block that is not yet released. A line longer
than a buffer is given in pieces; all pieces carry the number of that one line.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from mmap import mmap
from queue import SimpleQueue

from app.errors import SourceError
from app.read.decode import Text
from app.read.source import Source

BLOCK_BYTES = 8 << 20  # RE2 compiles the filters anew for each block: below 8 MB that shows
_SMALL = 1 << 16


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of one file.

    `offset` counts bytes of text from the start of the file. `continues` says that the first line
    is a further piece of the last line of the block before. `release` gives the buffer back.
    """

    file: int
    offset: int
    data: memoryview
    continues: bool
    is_last: bool
    release: Callable[[], None]


class Buffers:
    """At most `count` buffers; `take` waits until one is free. Safe for several threads."""

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
    offset, rest, continues = 0, b"", False
    while True:
        buffer = buffers.take()
        view = memoryview(buffer)
        view[: len(rest)] = rest
        try:
            filled = _fill(text, view, len(rest))
        except SourceError:
            buffers.give(buffer)
            raise
        at_end = filled < len(buffer)
        cut = filled if at_end else _last_break(buffer)
        rest = bytes(view[cut:filled])
        ends_line = at_end or buffer[cut - 1] == 10
        release = partial(buffers.give, buffer)
        yield Block(file, offset, view[:cut], continues, at_end, release)
        if at_end:
            return
        continues = not ends_line
        offset += cut


def _fill(text: Text, view: memoryview, filled: int) -> int:
    while filled < len(view):
        got = text.readinto(view[filled:])
        if not got:
            break
        filled += got
    return filled


def _last_break(buffer: mmap) -> int:
    """Cut after the last line; within an endless line, after its last blank or bar state."""
    cut = buffer.rfind(b"\n") + 1
    if cut:
        return cut
    tail = len(buffer) - _SMALL
    return max(buffer.rfind(b" ", tail), buffer.rfind(b"\r", tail)) + 1 or len(buffer)
