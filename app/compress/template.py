"""Fold lines that are alike but for numbers, ids and ranks into templates.

Two levels keep this cheap when nearly half of a log is kept. First, digits become 0 and runs of
them shrink, over the whole block at once; lines that agree so far are counted together. Only a
shape that was not seen before is masked with the slower regex, which also knows hex, UUIDs,
addresses and paths. Memory bound: `MAX_TEMPLATES` templates and as many remembered shapes of at
most 2 KB; what comes beyond that is counted in one template named `…`.
"""

import re
from collections import Counter

import numpy as np

from app.compress.scan import Ints, Scanned
from app.model import Template

MAX_TEMPLATES = 5_000
_MAX_SHAPES = 20_000
_MAX_SHAPE = 2048
_EXAMPLE = 1000
_DIGITS = bytes(48 if 48 <= byte <= 57 else byte for byte in range(256))
_ZEROS = re.compile(rb"00+")
_MASK = re.compile(
    rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"  # 1c1f8a52-0d3e-4c55-9b1e-0c2c8c1a7f00
    rb"|0x[0-9a-fA-F]+"
    rb"|\b[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}\b"  # 0c:42:a1:5b:7c:d8
    rb"|\b(?=[a-fA-F]*[0-9])[0-9a-fA-F]{12,}\b"
    rb"|[-+]?[0-9][0-9.,:]*(?:[eE][-+]?[0-9]+)?"
)
_BEYOND = b"\xe2\x80\xa6"


class Templates:
    """Counts templates over a whole log, file after file."""

    def __init__(self) -> None:
        self._found: dict[bytes, _Tally] = {}
        self._shapes: dict[bytes, _Tally] = {}

    def add(self, file: int, first_number: int, scanned: Scanned) -> None:
        """Count the kept lines of one block, whose first line has the given number."""
        kept = scanned.kept
        if not len(kept):
            return
        lines = _slices(kept, scanned.starts, scanned.data)
        joined = b"\n".join(lines)
        shapes = _ZEROS.sub(b"0", joined.translate(_DIGITS)).split(b"\n")
        counts = Counter(shapes)
        indices = range(len(shapes))
        last = dict(zip(shapes, indices, strict=True))
        first = dict(zip(reversed(shapes), reversed(indices), strict=True))
        for shape, count in counts.items():
            tally = self._shapes.get(shape)
            if tally is None:
                tally = self._tally(shape, lines[first[shape]])
            start = (file, first_number + int(kept[first[shape]]))
            end = (file, first_number + int(kept[last[shape]]))
            tally.add(count, start, end)

    def templates(self) -> tuple[Template, ...]:
        """All templates, by their first line."""
        found = sorted(self._found.items(), key=lambda item: item[1].first)
        return tuple(
            Template(
                text=_text(mask),
                count=tally.count,
                first=tally.first,
                last=tally.last,
                example=_text(tally.example),
            )
            for mask, tally in found
        )

    def _tally(self, shape: bytes, line: bytes) -> "_Tally":
        mask = template_of(line)
        if mask not in self._found and len(self._found) >= MAX_TEMPLATES:
            mask = _BEYOND
        tally = self._found.setdefault(mask, _Tally(line[:_EXAMPLE]))
        if len(self._shapes) < _MAX_SHAPES:
            self._shapes[shape] = tally
        return tally


class _Tally:
    __slots__ = ("count", "example", "first", "last")

    def __init__(self, example: bytes) -> None:
        self.example = example
        self.count = 0
        self.first = (0, 0)
        self.last = (0, 0)

    def add(self, count: int, first: tuple[int, int], last: tuple[int, int]) -> None:
        if not self.count:
            self.first = first
        self.count += count
        self.last = last


def template_of(line: bytes) -> bytes:
    """Mask what varies from line to line."""
    return _MASK.sub(b"#", line[:_MAX_SHAPE])


def _slices(kept: Ints, starts: Ints, data: memoryview) -> list[bytes]:
    begins = starts[kept]
    ends = np.minimum(starts[kept + 1], begins + _MAX_SHAPE)
    whole = bytes(data) if len(kept) > 2000 else None
    if whole is not None:
        parts = [whole[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
    else:
        parts = [data[a:b].tobytes() for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
    return [part.rstrip(b"\r\n") for part in parts]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
