"""Tell the type of a job from a few windows of its log, before the log is read.

Which filters a log is read with depends on its type, so this looks at a quarter of a megabyte. A
stream can be read only once: its type must be told.
"""

import io
import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from app.compress.outline import outline
from app.errors import SourceError
from app.read.decode import Text
from app.read.kind import HEAD_BYTES, packing
from app.read.prefix import PrefixReader
from app.read.source import Source, sources
from app.read.terminal import clean
from app.written import Outline

_WINDOWS = 8
_WINDOW = 32 << 10  # bytes
_PACKED = 4 << 20  # bytes of text that are looked at where a file cannot be read from its middle


def outline_of(inputs: Sequence[Path | BinaryIO]) -> Outline:
    """Give what the log repeats; nothing for a stream or a log that cannot be read."""
    if not all(isinstance(item, Path) and not item.is_fifo() for item in inputs):
        return frozenset()
    try:
        files = sources(inputs)
        chosen = files[:: -(-len(files) // _WINDOWS)]
        each = -(-_WINDOWS // len(chosen))
        windows = [window for source in chosen for window in _windows(source, each)]
    except (SourceError, OSError):
        return frozenset()  # whoever reads the log will say so
    read = PrefixReader(time.gmtime().tm_year).read
    return outline([[piece[read(piece).end :] for piece in _lines(data)] for data in windows])


def _windows(source: Source, count: int) -> Iterator[bytes]:
    assert source.path is not None
    with source.path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        head = file.read(HEAD_BYTES)
        if packing(head) is None and size > _WINDOW * count:
            for place in range(count):
                file.seek((size - _WINDOW) * place // max(count - 1, 1))
                yield file.read(_WINDOW)
            return
    text = _beginning(source)
    step = -(-len(text) // count) or 1
    yield from (text[begin : begin + min(step, _WINDOW)] for begin in range(0, len(text), step))


def _beginning(source: Source) -> bytes:
    buffer = bytearray(_PACKED)
    view, filled = memoryview(buffer), 0
    text = Text(source, _PACKED * 2)
    try:
        while filled < _PACKED and (got := text.readinto(view[filled:])):
            filled += got
    finally:
        text.close()
    return bytes(buffer[:filled])


def _lines(data: bytes) -> Iterator[str]:
    whole = data.split(b"\n")[1:-1]  # the first and the last may be cut
    shown = (clean(line[:2000].decode("utf-8", "replace").rstrip("\r")) for line in whole)
    return itertools.chain.from_iterable(pieces[-1:] for pieces in shown)
