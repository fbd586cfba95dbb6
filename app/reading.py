"""Read the files of a log and bring them down to what may matter: the first two stages, joined."""

import time
from collections.abc import Callable, Iterator, Sequence

from app.compress.log import LineReading, compress
from app.model import Compressed, Prefix
from app.read.blocks import BLOCK_BYTES, Block, Buffers, blocks
from app.read.dated import first_date
from app.read.envelope import Envelope, envelope, opened
from app.read.named import completed, printers
from app.read.prefix import PrefixReader
from app.read.source import Source
from app.read.terminal import clean
from app.rulebook.compiled import Compiled


def compressed_from(
    files: Sequence[Source],
    compiled: Compiled,
    *,
    max_bytes: int,
    threads: int,
    progress: Callable[[int], None] | None = None,
) -> Compressed:
    """Read files in order, at most so many bytes of text; `progress` is told those read so far."""
    heads = _Heads()
    return compress(
        tuple(source.name for source in files),
        _all_blocks(files, max_bytes, threads, heads),
        compiled,
        LineReading(clean, _prefix_readers(files, heads)),
        threads=threads,
        progress=progress,
    )


class _Heads:
    """What the beginnings of files tell: their first dates, and what stands before each line."""

    def __init__(self) -> None:
        self.dates: dict[int, float] = {}
        self.envelopes: dict[int, Envelope] = {}

    def see(self, index: int, head: memoryview) -> None:
        """Look at how a file begins."""
        if (date := first_date(head)) is not None:
            self.dates[index] = date
        if (around := envelope(head)) is not None:
            self.envelopes[index] = around


def _prefix_readers(
    files: Sequence[Source], heads: _Heads
) -> Callable[[int], Callable[[str], Prefix]]:
    """Make the readers of prefixes, one for each file, which know what its name tells.

    The first date of a file tells the year of stamps before it; without one, that of a file before.
    """
    told = printers([source.name for source in files])

    def reader(file: int) -> Callable[[str], Prefix]:
        dated = max((index for index in heads.dates if index <= file), default=None)
        near = None if dated is None else heads.dates[dated]
        read: Callable[[str], Prefix] = PrefixReader(_year(files[file]), near).read
        around = heads.envelopes.get(file)
        if around is not None:
            read = opened(read, PrefixReader(_year(files[file]), near).read, around)
        printer = told[file]
        return read if printer == Prefix() else lambda raw: completed(read(raw), printer)

    return reader


def _year(source: Source) -> int:
    """The year for clocks that tell none: that in which the file was last written."""
    try:
        written = source.path.stat().st_mtime if source.path else time.time()
    except OSError:
        written = time.time()
    return time.gmtime(written).tm_year


def _all_blocks(
    files: Sequence[Source], max_bytes: int, threads: int, heads: _Heads
) -> Iterator[Block]:
    """Read all files; note what the beginning of each tells, before its lines are read."""
    buffers = Buffers(threads + 2, BLOCK_BYTES)
    left = max_bytes
    for index, source in enumerate(files):
        begins = True
        for block in blocks(index, source, buffers, left):
            if begins:
                heads.see(index, block.data)
            begins = False
            left -= len(block.data)
            yield block
