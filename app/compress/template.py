"""Fold lines that are alike but for numbers, ids and ranks into templates.

Two levels keep this cheap when nearly half of a log is kept. First, each run of digits becomes 0,
with the hex letters that touch it, over many lines at once; lines that agree so far are counted
together. Only a shape that was not seen before is masked with the slower regex, which tells ids,
addresses and counts from words.

Memory bound: `MAX_TEMPLATES` templates and a few MB of remembered shapes, lines of at most 2 KB;
what comes beyond that is counted in one template named `…`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from app.compress.scan import Ints, Scanned
from app.model import Line, Template

MAX_TEMPLATES = 5_000
_SHAPES_BUDGET = 4 << 20  # bytes
_MAX_LINE = 2048
_EXAMPLE = 1000
_AT_ONCE = 512  # lines
_MASK = re.compile(
    rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"  # 1c1f8a52-0d3e-4c55-9b1e-0c2c8c1a7f00
    rb"|0x[0-9a-fA-F]+"
    rb"|\b[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}\b"  # 0c:42:a1:5b:7c:d8
    rb"|\b(?=[a-fA-F]*[0-9])[0-9a-fA-F]{12,}\b"
    rb"|[-+]?[0-9](?:[0-9.,:]*[0-9])?(?:[eE][-+]?[0-9]+)?"
)
_Flags = npt.NDArray[np.bool_]
_BEYOND = b"\xe2\x80\xa6"


class Templates:
    """Counts templates over a whole log, file after file."""

    def __init__(self) -> None:
        self._found: dict[bytes, _Tally] = {}
        self._shapes = _Shapes()

    def add(self, file: int, first_number: int, scanned: Scanned) -> list[int]:
        """Count the kept lines of one block that are not blank; its first has the given number.

        Gives the indices of lines that were the first of their kind in the log.
        """
        fresh: list[int] = []
        told = _not_blank(scanned)
        for begin in range(0, len(told), _AT_ONCE):
            kept = told[begin : begin + _AT_ONCE]
            fresh += self._add(file, first_number, kept, _lines(kept, scanned))
        return fresh

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

    def _add(
        self, file: int, first_number: int, kept: Ints, lines: Sequence[bytes]
    ) -> Iterator[int]:
        shapes = _shapes(lines)
        counts = Counter(shapes)
        places = range(len(shapes))
        last = dict(zip(shapes, places, strict=True))
        first = dict(zip(reversed(shapes), reversed(places), strict=True))
        for shape, count in counts.items():
            tally = self._shapes.get(shape) or self._tally(shape, lines[first[shape]])
            begin, end = int(kept[first[shape]]), int(kept[last[shape]])
            if not tally.count:
                yield begin
            tally.add(count, (file, first_number + begin), (file, first_number + end))

    def _tally(self, shape: bytes, line: bytes) -> "_Tally":
        is_full = len(self._found) >= MAX_TEMPLATES
        if is_full and self._shapes.are_full:
            mask = _BEYOND
        else:
            mask = template_of(line)
            mask = _BEYOND if is_full and mask not in self._found else mask
        tally = self._found.get(mask)
        if tally is None:
            tally = self._found[mask] = _Tally(line[:_EXAMPLE])
        self._shapes.remember(shape, tally)
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
        if last > self.last:  # lines of several shapes come in turns, and so do their last ones
            self.last = last
        self.count += count


class _Shapes:
    """Which template a shape stands for, as long as there is room."""

    def __init__(self) -> None:
        self._of: dict[bytes, _Tally] = {}
        self._room = _SHAPES_BUDGET
        self.get = self._of.get

    @property
    def are_full(self) -> bool:
        return self._room <= 0

    def remember(self, shape: bytes, tally: _Tally) -> None:
        if self._room > 0 and shape not in self._of:
            self._of[shape] = tally
            self._room -= len(shape) + 200  # what the entry itself takes


def with_printers(templates: Sequence[Template], lines: Iterable[Line]) -> tuple[Template, ...]:
    """Add the ranks and hosts that printed each template, as far as lines of it were kept."""
    ranks: dict[str, set[int]] = {}
    hosts: dict[str, set[str]] = {}
    for line in lines:
        if line.rank is None and not line.host:
            continue
        text = _text(template_of(line.raw.encode("utf-8", "replace")))
        ranks.setdefault(text, set()).update(() if line.rank is None else (line.rank,))
        hosts.setdefault(text, set()).update((line.host,) if line.host else ())
    return tuple(
        replace(
            template,
            ranks=tuple(sorted(ranks.get(template.text, ()))),
            hosts=tuple(sorted(hosts.get(template.text, ()))),
        )
        for template in templates
    )


def template_of(line: bytes) -> bytes:
    """Mask what varies from line to line."""
    return _MASK.sub(b"#", line[:_MAX_LINE])


def _shapes(lines: Sequence[bytes]) -> list[bytes]:
    """Write 0 for each run of digits and hex letters that holds a digit."""
    text = np.frombuffer(b"\n".join(lines), np.uint8)
    digits = text - ord("0") < 10
    hexes = digits | ((text | 0x20) - ord("a") < 6)
    inside = _carried(digits, hexes, "little") | _carried(digits, hexes, "big")
    left = np.ones(len(text), np.bool_)
    left[1:] = ~(inside[1:] & inside[:-1])  # the first of each run stays
    shown: bytes = np.where(inside, np.uint8(ord("0")), text)[left].tobytes()
    return shown.split(b"\n")


def _carried(digits: _Flags, hexes: _Flags, order: Literal["little", "big"]) -> _Flags:
    """Tell what stands in a run from its first digit on; from its last one back if `big`.

    In a sum of the two as binary numbers the digit carries as far as its run goes.
    """
    digit, run = (
        int.from_bytes(np.packbits(flags, bitorder=order).tobytes(), order)
        for flags in (digits, hexes)
    )
    met = run & ~((run + digit) ^ digit) | digit
    packed = np.frombuffer(met.to_bytes(-(-len(digits) // 8), order), np.uint8)
    return np.unpackbits(packed, count=len(digits), bitorder=order).view(np.bool_)


def _not_blank(scanned: Scanned) -> Ints:
    sizes = scanned.starts[scanned.kept + 1] - scanned.starts[scanned.kept]
    told = scanned.kept[sizes > 0]
    first = np.frombuffer(scanned.data, np.uint8)[scanned.starts[told]]
    is_blank = (sizes[sizes > 0] < 3) & ((first == ord("\r")) | (first == ord("\n")))
    return np.asarray(told[~is_blank], np.int32)


def _lines(kept: Ints, scanned: Scanned) -> list[bytes]:
    begins = scanned.starts[kept]
    ends = np.minimum(scanned.starts[kept + 1], begins + _MAX_LINE)
    first, last = int(begins[0]), int(ends[-1])
    if last - first > 4 * int((ends - begins).sum()):
        bounds = zip(begins.tolist(), ends.tolist(), strict=True)
        return [scanned.data[a:b].tobytes().rstrip(b"\r\n") for a, b in bounds]
    near = scanned.data[first:last].tobytes()  # where lines stand close, slices of bytes are faster
    bounds = zip((begins - first).tolist(), (ends - first).tolist(), strict=True)
    return [near[a:b].rstrip(b"\r\n") for a, b in bounds]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
