"""One block of lines against all filters and all probes, in one pass over its bytes.

Filters are many short patterns that meet most lines, probes many patterns that meet few. RE2
(through arrow, on an array that views the block) answers the first, once a line; Hyperscan the
second, once a hit. Both release the interpreter lock, so several blocks are scanned at once.
A line that a probe meets is kept whatever the filters say.
"""

import itertools
import re
import threading
from dataclasses import dataclass
from mmap import mmap

import hyperscan
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from app.rulebook.compiled import Compiled

Ints = npt.NDArray[np.int64]
_COLOURS = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\n\x1b]*(?:\x07|\x1b\\)|[()][AB012])")
_NEWLINE = 10
_SMALL = 64 << 10


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
        return self.data[begin : min(int(self.starts[index + 1]), begin + 4096)].tobytes()


class Scanner:
    """Scans blocks. One object serves several threads."""

    def __init__(self, compiled: Compiled) -> None:
        self._database = compiled.database
        self._dropped = compiled.dropped
        self._one = compiled.dropped_line
        self._scratch = hyperscan.Scratch(self._database)
        self._threads = threading.local()

    def scan(self, data: memoryview) -> Scanned:
        """Scan one block, a view of a buffer from its start; it must not change meanwhile."""
        if _has_colours(data):
            data = memoryview(_COLOURS.sub(b"", data))
        starts = _line_starts(data)
        lines = len(starts) - 1
        hit_lines, hit_probes, hit_ends = self._hits(data, starts)
        keep = self._survivors(data, starts)
        keep[hit_lines] = True
        kept = np.flatnonzero(keep)
        return Scanned(data, lines, starts, kept, hit_lines, hit_probes, hit_ends)

    def _survivors(self, data: memoryview, starts: Ints) -> npt.NDArray[np.bool_]:
        lines = len(starts) - 1
        if self._dropped is None or not lines:
            return np.ones(lines, dtype=bool)
        if len(data) <= _SMALL:
            return self._few_survivors(data, starts)
        offsets = pa.py_buffer(starts.astype(np.int32))
        array = pa.Array.from_buffers(
            pa.binary(), lines, [None, offsets, pa.py_buffer(data)], null_count=0
        )
        met = pc.match_substring_regex(array, self._dropped)
        bits = np.frombuffer(met.buffers()[1], np.uint8)
        kept: npt.NDArray[np.bool_] = np.unpackbits(bits, count=lines, bitorder="little") == 0
        return kept

    def _few_survivors(self, data: memoryview, starts: Ints) -> npt.NDArray[np.bool_]:
        """Ask the same RE2 line by line: arrow compiles the filters for every call, in 5 ms."""
        bounds = starts.tolist()
        lines = (bytes(data[a:b]) for a, b in itertools.pairwise(bounds))
        return np.fromiter((self._one.search(line) is None for line in lines), bool)

    def _hits(self, data: memoryview, starts: Ints) -> tuple[Ints, Ints, Ints]:
        found: list[tuple[int, int]] = []
        add = found.append

        def on_match(probe: int, start: int, end: int, flags: int, context: object) -> None:
            add((end, probe))

        if len(data):
            scratch = self._own_scratch()
            self._database.scan(data, match_event_handler=on_match, scratch=scratch)  # type: ignore[type-var]  # any buffer will do
        if not found:
            nothing = np.empty(0, np.int64)
            return nothing, nothing, nothing
        pairs = np.array(found, dtype=np.int64)
        lines = np.searchsorted(starts, pairs[:, 0] - 1, "right") - 1
        probes_wide = int(pairs[:, 1].max()) + 1
        codes, where = np.unique(lines * probes_wide + pairs[:, 1], return_index=True)
        return codes // probes_wide, codes % probes_wide, pairs[where, 0]

    def _own_scratch(self) -> hyperscan.Scratch:
        scratch = getattr(self._threads, "scratch", None)
        if scratch is None:
            scratch = self._scratch.clone()
            self._threads.scratch = scratch
        return scratch


def _has_colours(data: memoryview) -> bool:
    whole = data.obj  # a search in the buffer itself is ten times faster than one in the view
    if isinstance(whole, bytes | bytearray | mmap):
        return whole.find(b"\x1b", 0, len(data)) >= 0
    return b"\x1b" in data.tobytes()


def _line_starts(data: memoryview) -> Ints:
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE) + 1
    open_end = len(data) and (not len(ends) or ends[-1] != len(data))
    parts = ([0], ends, [len(data)]) if open_end else ([0], ends)
    return np.concatenate(parts).astype(np.int64)
