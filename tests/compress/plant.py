"""A small rulebook, and logs of its plant read through blocks of any size."""

import io
import tempfile
from functools import cache
from pathlib import Path

from app.compress.log import LineReading, compress
from app.read.blocks import BLOCK_BYTES, Buffers, blocks
from app.read.prefix import PrefixReader
from app.read.source import Source
from app.read.terminal import clean
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from tests.small_rules import write_rules

FILTERS = {
    "filters/drops.yaml": """\
title: Drops
summary: What falls into the tray.
do: drop
match: ['drop no\\. \\d+', 'tray empty$']
hits: ['a drop no. 3', 'now the tray empty']
misses: 'a drop of oil'
""",
    "filters/oil.yaml": """\
title: Oil
summary: The log keeps what the oil does.
do: keep
match: 'gauge 7 reads'
hits: 'gauge 7 reads 12'
misses: 'gauge 8 reads 12'
""",
}


@cache
def plant() -> Compiled:
    with tempfile.TemporaryDirectory() as folder:
        return Compiled(load(write_rules(Path(folder), FILTERS)))


def read(*logs: bytes, size: int = BLOCK_BYTES, threads: int = 1, compiled: Compiled | None = None):
    """Compress logs through blocks of a size."""
    buffers = Buffers(threads + 2, size)
    cut = (
        block
        for file, log in enumerate(logs)
        for block in blocks(file, Source("x", stream=io.BytesIO(log)), buffers, 1 << 40)
    )
    names = tuple(f"log{file}" for file in range(len(logs)))
    reading = LineReading(clean, lambda _: PrefixReader(2026).read)
    return compress(names, cut, compiled or plant(), reading, threads=threads)
