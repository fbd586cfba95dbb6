"""Bring a log down to what may matter, in one pass over its bytes.

Blocks are scanned by several threads and taken up in order. Memory bound: the blocks in flight,
the sieve's budget, and what templates and series hold.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from app.compress.budget import Budget
from app.compress.routine import RoutineShares
from app.compress.sample import sampled
from app.compress.scan import Scanned, Scanner
from app.compress.series import SeriesReader
from app.compress.sieve import Clean, ReadPrefix, Sieve
from app.compress.template import Templates, with_printers
from app.model import Compressed, Line, LogFile, Point, Template
from app.rulebook.compiled import TRACE, Compiled

_POINTS = 40_000  # for the whole log; a file's series keeps at least _FEWEST_POINTS
_FEWEST_POINTS = 64
_MOST_POINTS = 2 * _POINTS
_STATES = 16
_STATES_SPREAD = 128  # of one line; a whole epoch may be drawn on it
_STATES_IN_ALL = 20_000  # of one log, beyond the last few of each line
_LAST_POINTS = 4  # of a file that comes when there are more


class Block(Protocol):
    """Whole lines of one file; see `app.read.blocks`."""

    @property
    def file(self) -> int:
        """The file's index."""

    @property
    def data(self) -> memoryview:
        """The lines with their ends, from the start of a buffer."""

    @property
    def continues(self) -> bool:
        """Whether the first line is a further piece of the last one of the block before."""

    @property
    def repeated(self) -> int:
        """How many bytes at the beginning were given with the block before."""

    @property
    def release(self) -> Callable[[], None]:
        """Give the buffer back."""


@dataclass(frozen=True, slots=True)
class LineReading:
    """How a line is read: freed from terminal control, its prefix by the reader of its file."""

    clean: Clean
    prefix: Callable[[int], ReadPrefix]


@dataclass(frozen=True, slots=True)
class Glance:
    """What one block brought: where it begins, what the scan found, which lines are of new kinds.

    `templates` are those of the log so far.
    """

    first_number: int
    scanned: Scanned
    new: tuple[int, ...]
    templates: Callable[[], tuple[Template, ...]]


Watch = Callable[[Glance], None]


@dataclass(frozen=True, slots=True)
class _File:
    sieve: Sieve
    series: SeriesReader
    read_prefix: ReadPrefix
    tally: "_Tally" = field(default_factory=lambda: _Tally())


@dataclass(slots=True)
class _Tally:
    bytes: int = 0
    lines: int = 0
    kept: int = 0
    kept_last: bool = False


def compress(
    names: tuple[str, ...],
    blocks: Iterable[Block],
    compiled: Compiled,
    reading: LineReading,
    *,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
    watch: Watch | None = None,
) -> Compressed:
    """Read all blocks, those of one file in a row.

    `progress` is told the bytes read so far, `watch` what each block brought.
    """
    taking = _Taking(names, compiled, reading)
    done = 0
    for block, scanned in _scan_ahead(blocks, Scanner(compiled), threads):
        try:
            glance = taking.take(block, scanned)
            if watch:
                watch(glance)
        finally:
            block.release()
        done += len(block.data) - block.repeated
        if progress:
            progress(done)
    return taking.compressed()


def _scan_ahead(
    blocks: Iterable[Block], scanner: Scanner, threads: int
) -> Iterator[tuple[Block, Scanned]]:
    """Scan up to `threads` blocks at once; give them in order."""
    if threads <= 1:
        for block in blocks:
            yield block, scanner.scan(block.data, block.repeated)
        return
    waiting: deque[tuple[Block, Future[Scanned]]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="scan") as pool:
        for block in blocks:
            waiting.append((block, pool.submit(scanner.scan, block.data, block.repeated)))
            if len(waiting) > threads:
                first, scanned = waiting.popleft()
                yield first, scanned.result()
        while waiting:
            first, scanned = waiting.popleft()
            yield first, scanned.result()


class _Taking:
    """Takes up scanned blocks in order."""

    def __init__(self, names: tuple[str, ...], compiled: Compiled, reading: LineReading) -> None:
        self._names = names
        self._compiled = compiled
        self._reading = reading
        self._budget = Budget(len(TRACE), len(names))
        self._templates = Templates()
        self._routine = RoutineShares(compiled)
        self._blocks = 0
        self._open: tuple[int, _File] | None = None
        self._files: dict[int, _Tally] = {}
        self._lines: list[Line] = []
        self._points: list[Point] = []
        self._states_left = _STATES_IN_ALL

    def take(self, block: Block, scanned: Scanned) -> Glance:
        file = self._file(block.file)
        tally = file.tally
        first_number = tally.lines + (0 if block.continues else 1)
        if block.continues and tally.kept_last and scanned.kept[:1].tolist() == [0]:
            scanned = replace(scanned, kept=scanned.kept[1:])  # a line counts once
        tally.lines = first_number + scanned.lines - 1
        tally.bytes += len(block.data) - block.repeated
        tally.kept += len(scanned.kept)
        if not block.continues or scanned.lines > 1 or not tally.kept_last:
            tally.kept_last = scanned.kept[-1:].tolist() == [scanned.lines - 1]
        new = self._templates.add(block.file, first_number, scanned)
        file.sieve.take(first_number, scanned, new, continues=block.continues)
        self._sample(block.file, file, first_number, scanned)
        self._blocks += 1
        return Glance(first_number, scanned, tuple(new), self._templates.templates)

    def compressed(self) -> Compressed:
        self._close()
        files = tuple(
            LogFile(name, tally.bytes, tally.lines, tally.kept)
            for name, tally in zip(
                self._names,
                (self._files.get(index, _Tally()) for index in range(len(self._names))),
                strict=True,
            )
        )
        dropped = sum(file.lines - file.kept_lines for file in files)
        return Compressed(
            files=files,
            lines=tuple(self._lines),
            templates=with_printers(self._templates.templates(), self._lines),
            points=tuple(self._points),
            removed=self._routine.shares_of(dropped),
        )

    def _file(self, index: int) -> _File:
        if self._open is None or self._open[0] != index:
            self._close()
            sieve = Sieve(index, self._budget, self._reading.clean, self._reading.prefix(index))
            series = SeriesReader(max(_FEWEST_POINTS, _POINTS // len(self._names)))
            self._open = index, _File(sieve, series, self._reading.prefix(index))
        return self._open[1]

    def _close(self) -> None:
        if self._open is not None:
            index, file = self._open
            self._files[index] = file.tally
            self._lines += file.sieve.end()
            points = file.series.points()
            is_full = len(self._points) + len(points) > _MOST_POINTS
            self._points += points[-_LAST_POINTS:] if is_full else points
            self._open = None

    def _sample(self, index: int, file: _File, first_number: int, scanned: Scanned) -> None:
        chosen = list(sampled(scanned.lines, len(scanned.data), self._blocks))
        is_kept = np.zeros(scanned.lines, np.bool_)
        is_kept[scanned.kept] = True
        for i, kept in zip(chosen, is_kept[chosen].tolist(), strict=True):
            raw = scanned.line(i)
            if not kept:
                self._routine.count(raw)
            for state in self._states(raw, scanned, i):
                for piece in self._reading.clean(state):
                    prefix = file.read_prefix(piece)
                    file.series.feed(
                        index,
                        first_number + i,
                        piece[prefix.end :],
                        rank=prefix.rank,
                        time=prefix.time,
                    )

    def _states(self, raw: bytes, scanned: Scanned, index: int) -> Iterator[str]:
        """Give a line as it is read for progress: one that was redrawn state by state.

        Some are spread over it, as long as there are not too many in the log; the last few follow.
        """
        end = scanned.end_of(index).rstrip(b"\r\n")
        if b"\r" not in end:
            yield raw.decode("utf-8", "replace").rstrip("\r\n")
            return
        last = end.rsplit(b"\r", _STATES)[-_STATES:]
        spread = scanned.spread(index, min(_STATES_SPREAD, self._states_left), sum(map(len, last)))
        self._states_left -= len(spread)
        for state in (*spread, *last):
            yield state.decode("utf-8", "replace")
