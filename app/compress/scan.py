"""One block of lines against all filters and all probes, in one pass over its bytes.

Filters are many short patterns that meet most lines, probes many patterns that meet few. RE2
(through arrow, on an array that views the block) answers the first, once a line; Hyperscan the
second, once a hit. Both release the interpreter lock, so several blocks are scanned at once.
A line that a probe meets is kept whatever the filters say.

Memory bound: some ten times the block, where all its lines are blank; a fifth of it as a rule.
"""

import itertools
import re
import threading
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap

import hyperscan
import numpy as np
import numpy.typing as npt

from app.rulebook.compiled import Compiled, is_trouble, line_regexp
from app.rulebook.trouble import trouble

Ints = npt.NDArray[np.int32]
Wide = npt.NDArray[np.int64]
_COLOURS = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\n\x1b]*(?:\x07|\x1b\\)|[()][AB012])")
_NEWLINE = 10
_TAKEN = 4096
_SMALL = 64 << 10
_PART = 1 << 20
_PROBE_BITS = 20
_PROBES = (1 << _PROBE_BITS) - 1
_HITS = 1 << 17  # looked at together


@dataclass(frozen=True, slots=True)
class Scanned:
    """What one block holds.

    `starts` has one more entry than there are lines: the offsets in `data`, which is the block
    without colours. `kept` are the indices of lines that no filter drops or that a probe meets;
    `hit_lines` and `hit_probes` pair up, sorted by line, each pair once; `hit_ends` are the offsets
    where the first match of each pair ends.
    """

    data: memoryview
    lines: int
    starts: Ints
    kept: Ints
    hit_lines: Ints
    hit_probes: Ints
    hit_ends: Ints

    def line(self, index: int) -> bytes:
        """Take the first 4 KB of a line, with its end."""
        begin = int(self.starts[index])
        return self.data[begin : min(int(self.starts[index + 1]), begin + _TAKEN)].tobytes()

    def end_of(self, index: int) -> bytes:
        """Take the last 4 KB of a line."""
        end = int(self.starts[index + 1])
        return self.data[max(int(self.starts[index]), end - _TAKEN) : end].tobytes()

    def spread(self, index: int, most: int, but: int) -> list[bytes]:
        """Give states of a redrawn line at even distances, without its last `but` bytes.

        At most `most`, and none that is longer than 4 KB.
        """
        begin, end = int(self.starts[index]), int(self.starts[index + 1]) - but
        if not most or end <= begin:
            return []
        if end - begin <= most * _TAKEN:
            states = self.data[begin:end].tobytes().split(b"\r")[:-1]
            return states[:: 1 + len(states) // most]
        stride = (end - begin) // most
        return [state for at in range(begin, end, stride)[:most] for state in self._state(at, end)]

    def _state(self, at: int, end: int) -> list[bytes]:
        """Give the first state that begins behind a place, if it is whole and near."""
        return self.data[at : min(end, at + _TAKEN)].tobytes().split(b"\r")[1:-1][:1]


class Scanner:
    """Scans blocks. One object serves several threads."""

    def __init__(self, compiled: Compiled) -> None:
        self._database = compiled.database
        self._dropped = compiled.dropped
        self._one = compiled.dropped_line
        self._written = compiled.dropped_if_calm
        self._one_written = line_regexp(self._written) if self._written else None
        self._scratch = hyperscan.Scratch(self._database)
        self._threads = threading.local()

    def scan(self, data: memoryview, repeated: int = 0) -> Scanned:
        """Scan one block, a view of a buffer from its start; it must not change meanwhile.

        Colours are cut out of the buffer itself, where it may be written.
        What is hit within the first `repeated` bytes was told of the block before.
        """
        open_end = len(data) > 0 and data[-1] != _NEWLINE
        if _has_colours(data):
            repeated = len(_COLOURS.sub(b"", data[:repeated]))
            data = _without_colours(data)
        starts = _line_starts(data, open_end)
        lines = len(starts) - 1
        hit_lines, hit_probes, hit_ends = self._hits(data, starts, repeated)
        keep = self._survivors(data, starts)
        keep[hit_lines] = True
        return Scanned(data, lines, starts, _places(keep, True), hit_lines, hit_probes, hit_ends)

    def _survivors(self, data: memoryview, starts: Ints) -> npt.NDArray[np.bool_]:
        lines = len(starts) - 1
        if not lines or (self._dropped is None and self._written is None):
            return np.ones(lines, dtype=bool)
        if len(data) <= _SMALL:
            return self._few_survivors(data, starts)
        from app.compress.column import Column  # arrow takes 0.1 s and 40 MB to import

        column = Column(data, starts)
        met = column.meets(self._dropped)
        if self._written:
            calm = column.meets(self._written)
            if calm.any():
                met |= calm & ~column.meets(trouble().line)
        return ~met

    def _few_survivors(self, data: memoryview, starts: Ints) -> npt.NDArray[np.bool_]:
        """Ask the same RE2 line by line: arrow compiles the filters for every call, in 5 ms."""
        bounds = starts.tolist()
        lines = (bytes(data[a:b]) for a, b in itertools.pairwise(bounds))
        return np.fromiter((self._survives(line) for line in lines), bool)

    def _survives(self, line: bytes) -> bool:
        if self._dropped is not None and self._one.search(line) is not None:
            return False
        written = self._one_written
        return written is None or written.search(line) is None or is_trouble(line)

    def _hits(self, data: memoryview, starts: Ints, repeated: int) -> tuple[Ints, Ints, Ints]:
        found = array("q")  # end and probe in one number: a block may hold a million hits
        add = found.append
        begin = 0  # of the part that is scanned

        def on_match(probe: int, start: int, end: int, flags: int, context: object) -> None:
            add(begin + end << _PROBE_BITS | probe)

        scratch = self._own_scratch()
        for begin, end in _whole_lines(starts):
            # The binding takes nothing but bytes; the copy costs a fiftieth of the scan.
            part = bytes(data[begin:end])
            self._database.scan(part, match_event_handler=on_match, scratch=scratch)
        if not found:
            nothing = np.empty(0, np.int32)
            return nothing, nothing, nothing
        return _once(np.frombuffer(found, np.int64), starts, repeated)

    def _own_scratch(self) -> hyperscan.Scratch:
        scratch = getattr(self._threads, "scratch", None)
        if scratch is None:
            scratch = self._scratch.clone()
            self._threads.scratch = scratch
        return scratch


def _whole_lines(starts: Ints) -> Iterator[tuple[int, int]]:
    """Cut a block where lines begin, once in each part of it."""
    size = int(starts[-1])
    near = np.searchsorted(starts, np.arange(0, size, _PART))
    return itertools.pairwise(sorted({*starts[near].tolist(), size}))


def _has_colours(data: memoryview) -> bool:
    whole = data.obj  # a search in the buffer itself is ten times faster than one in the view
    if isinstance(whole, bytes | bytearray | mmap):
        return whole.find(b"\x1b", 0, len(data)) >= 0
    return b"\x1b" in data.tobytes()


def _without_colours(data: memoryview) -> memoryview:
    """Cut colours out in place, part by part, since each that is found costs ten times its size."""
    if data.readonly:
        data = memoryview(bytearray(data))
    size = 0
    for begin, end in _parts(data):
        plain = _COLOURS.sub(b"", data[begin:end])
        data[size : size + len(plain)] = plain
        size += len(plain)
    return data[:size]


def _parts(data: memoryview) -> Iterator[tuple[int, int]]:
    """Cut at line ends, or where a code begins."""
    begin = 0
    while begin < len(data):
        end = min(begin + _PART, len(data))
        if end < len(data):
            part = data[begin:end].tobytes()
            cut = part.rfind(b"\n") + 1 or part.rfind(b"\x1b")
            end = begin + cut if cut > 0 else end
        yield begin, end
        begin = end


def _once(hits: Wide, starts: Ints, repeated: int) -> tuple[Ints, Ints, Ints]:
    """Give line, probe and first end of all hits; part by part, as there may be a million."""
    parts = []
    told: Wide = np.empty(0, np.int64)  # what hit the line with which a part ended
    for at in range(0, len(hits), _HITS):
        part = hits[at : at + _HITS]
        ends = (part >> _PROBE_BITS).astype(np.int32)
        lines = np.searchsorted(starts, ends - 1, "right") - 1
        codes, first = np.unique(lines << _PROBE_BITS | part & _PROBES, return_index=True)
        new = (ends[first] > repeated) & ~np.isin(codes, told)
        codes, first = codes[new], first[new]
        parts.append((_narrow(codes >> _PROBE_BITS), _narrow(codes & _PROBES), ends[first]))
        told = np.concatenate([told, codes])
        told = told[told >> _PROBE_BITS == lines[-1]]
    by_line, probes, first_ends = zip(*parts, strict=True)
    return np.concatenate(by_line), np.concatenate(probes), np.concatenate(first_ends)


def _narrow(numbers: Wide) -> Ints:
    return numbers.astype(np.int32)


def _line_starts(data: memoryview, open_end: bool) -> Ints:
    """Give the offsets of all lines; the last may be open, and empty but for its colours."""
    values = np.frombuffer(data, np.uint8)
    starts = _places(values, _NEWLINE, before=1, behind=int(open_end))
    starts[1:] += 1
    starts[0] = 0
    if open_end:
        starts[-1] = len(data)
    return starts


def _places(
    values: npt.NDArray[np.uint8 | np.bool_], sought: int, before: int = 0, behind: int = 0
) -> Ints:
    """Tell where a value stands, with room at both ends; numpy itself takes more memory."""
    parts = [values[begin : begin + _PART] for begin in range(0, len(values), _PART)]
    count = sum(int(np.count_nonzero(part == sought)) for part in parts)
    places = np.empty(before + count + behind, np.int32)
    at = before
    for number, part in enumerate(parts):
        found = np.flatnonzero(part == sought)
        places[at : at + len(found)] = found + number * _PART
        at += len(found)
    return places
