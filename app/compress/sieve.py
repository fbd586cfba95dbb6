"""Choose which lines of a log are kept as text, within fixed budgets.

A small log keeps every line that no filter drops. A large one keeps, in this order of claim: lines
that a probe meets, the lines right below the parts of a traceback, the beginning and the end of
each file, and the first line of each kind; the rest lives on in templates and counts. So a story
told by one line among millions stays, and a million lines of one story do not: of those the first
stay, and the last, which belong to the attempt that is judged.

Memory bound: see `app.compress.budget`; the end of each file may pass it.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from app.compress.budget import Budget
from app.compress.scan import Scanned
from app.model import Line, Prefix

MAX_TEXT = 4096
_HEAD_OF_LONG = 128  # who printed it
_BEFORE = 700  # so that even a short quotation of the line holds what was matched
_AFTER = 256
_MOST_VIEWS = 16  # of one piece of a line
_MOST_PIECES, _FEW_PIECES = 128, 8  # that a line falls into where it was redrawn
_SHORT = 512
_PROBES_A_LINE = 8  # that are looked for among many hits
_FAR = b" \xe2\x80\xa6 "

ReadPrefix = Callable[[str], Prefix]
Clean = Callable[[str], tuple[str, ...]]
_Hits = list[tuple[int, int]]  # the end of the match, the probe
_View = tuple[bytes, tuple[int, ...]]


class Sieve:
    """Keeps lines of one file, block after block."""

    def __init__(self, file: int, budget: Budget, clean: Clean, read_prefix: ReadPrefix) -> None:
        self._lines: list[Line] = []
        self._file = file
        self._budget = budget
        self._clean = clean
        self._read_prefix = read_prefix
        self._below = 0  # so many lines are still part of a traceback
        self._recent: deque[tuple[int, bytes | None]] = deque(maxlen=budget.tail)
        self._late = _Late(budget.late_bytes)

    def take(
        self,
        first_number: int,
        scanned: Scanned,
        new: Collection[int] = (),
        *,
        continues: bool = False,
    ) -> None:
        """Keep what matters of one block, whose first line has the given number.

        `new` are indices of lines unlike any before; `continues` says that the first line is a
        piece of one whose beginning was taken before.
        """
        met, spare = self._met(scanned, new)
        wanted = set(self._plain(first_number, scanned, met, new, int(continues)))
        for index in sorted(wanted.union(met)):
            for raw, probes in _views(scanned, index, met.get(index, [])):
                self._keep(first_number + index, raw, probes)
        self._late.take(first_number, scanned, spare, met)
        for index in range(max(0, scanned.lines - self._budget.tail), scanned.lines):
            number = first_number + index
            if self._recent and self._recent[-1][0] == number:
                self._recent.pop()
            is_kept = index in wanted or index in met
            self._recent.append((number, None if is_kept else _plain_view(scanned, index)))

    def end(self) -> tuple[Line, ...]:
        """Give all kept lines, the last ones of the file among them, in order."""
        late = {number for number, _, _ in self._late.views}
        last = [(n, raw, ()) for n, raw in self._recent if raw is not None and n not in late]
        for number, raw, probes in sorted([*self._late.views, *last], key=lambda view: view[0]):
            if not probes and self._budget.is_spent:
                raw = raw[:_SHORT]
            self._keep(number, raw, probes)
        self._lines.sort(key=lambda line: line.number)
        return tuple(self._lines)

    def _met(
        self, scanned: Scanned, new: Collection[int]
    ) -> tuple[dict[int, _Hits], npt.NDArray[np.bool_]]:
        """Give the hits of lines that are to be kept, and mark those that are one too many."""
        fresh = self._budget.fresh(scanned.hit_probes)
        if new and not fresh.all():
            fresh |= np.isin(scanned.hit_lines, list(new))
        found: dict[int, _Hits] = {}
        for index, probe, end in zip(
            scanned.hit_lines[fresh].tolist(),
            scanned.hit_probes[fresh].tolist(),
            scanned.hit_ends[fresh].tolist(),
            strict=True,
        ):
            found.setdefault(index, []).append((end, probe))
        novel = set(new)
        met = {
            index: hits
            for index, hits in found.items()
            if self._budget.hit(
                tuple(probe for _, probe in hits), _size(scanned, index), is_new=index in novel
            )
        }
        if len(met) < len(found):
            return met, ~np.isin(scanned.hit_lines, list(met))
        return met, ~fresh

    def _plain(
        self,
        first_number: int,
        scanned: Scanned,
        met: dict[int, _Hits],
        new: Collection[int],
        begin: int,
    ) -> Iterator[int]:
        """Choose lines that no probe meets."""
        beside = [
            *self._below_traces(scanned, met),
            *range(begin, min(scanned.lines, self._budget.head + 1 - first_number)),
        ]
        taken = set(met)
        for index in beside:
            if index not in taken and self._budget.spend(_size(scanned, index)):
                taken.add(index)
                yield index
        for index in _unmet(scanned) if self._budget.has_plain else ():
            if not self._budget.has_plain:
                break
            if index not in taken and self._budget.plain(_size(scanned, index)):
                taken.add(index)
                yield index
        for index in new:
            if index not in taken and self._budget.spend(_size(scanned, index)):
                yield index

    def _below_traces(self, scanned: Scanned, met: dict[int, _Hits]) -> Iterator[int]:
        """The source line below a frame, the lines of a message below an exception."""
        below = range(min(self._below, scanned.lines))
        self._below -= len(below)
        yield from below
        for index, hits in met.items():
            if any(self._budget.is_trace(probe) for _, probe in hits):
                yield from range(index + 1, min(index + 3, scanned.lines))
                self._below = max(self._below, index + 3 - scanned.lines)

    def _keep(self, number: int, raw: bytes, met: tuple[int, ...]) -> None:
        pieces = self._clean(raw.decode("utf-8", "replace").rstrip("\r\n"))
        most = _FEW_PIECES if self._budget.is_spent else _MOST_PIECES
        if len(pieces) > most:
            pieces = (*pieces[: most // 2], *pieces[-most // 2 :])
        if len(pieces) > 1:
            self._budget.spend(0, len(pieces) - 1)
        for piece in pieces:
            prefix = self._read_prefix(piece)
            line = Line(
                file=self._file,
                number=number,
                raw=piece,
                text=piece[prefix.end :],
                rank=prefix.rank,
                host=prefix.host,
                time=prefix.time,
                stream=prefix.stream,
                met=met,
            )
            self._lines.append(line)


class _Late:
    """The latest of the lines that were one too many for their probes."""

    def __init__(self, max_bytes: int) -> None:
        self.views: deque[tuple[int, bytes, tuple[int, ...]]] = deque()
        self._left = max_bytes
        self._most = max_bytes // _SHORT + 1

    def take(
        self,
        first_number: int,
        scanned: Scanned,
        spare: npt.NDArray[np.bool_],
        met: Collection[int],
    ) -> None:
        """Take the last of one block, and give up earlier ones for them."""
        places = np.flatnonzero(spare)[-_PROBES_A_LINE * self._most :]
        if not len(places):
            return
        last = np.unique(scanned.hit_lines[places])[-self._most :]
        places = places[scanned.hit_lines[places] >= last[0]]
        hits: dict[int, _Hits] = {index: [] for index in last.tolist() if index not in met}
        for place in places.tolist():
            index = int(scanned.hit_lines[place])
            if index in hits:
                hits[index].append((int(scanned.hit_ends[place]), int(scanned.hit_probes[place])))
        for index, own in hits.items():
            for raw, probes in _views(scanned, index, own):
                self.views.append((first_number + index, raw, probes))
                self._left -= len(raw) + _SHORT
        while self._left < 0:
            self._left += len(self.views.popleft()[1]) + _SHORT


def _unmet(scanned: Scanned) -> Iterator[int]:
    """Give the kept lines that no probe meets."""
    is_unmet = np.zeros(scanned.lines, np.bool_)
    is_unmet[scanned.kept] = True
    is_unmet[scanned.hit_lines] = False
    return map(int, np.flatnonzero(is_unmet))


def _size(scanned: Scanned, index: int) -> int:
    return min(int(scanned.starts[index + 1] - scanned.starts[index]), MAX_TEXT)


def _views(scanned: Scanned, index: int, hits: Iterable[tuple[int, int]]) -> Iterator[_View]:
    """Take a line; of a very long one what stands round each place that was matched."""
    begin, end = int(scanned.starts[index]), int(scanned.starts[index + 1])
    left = sorted(hits)
    if end - begin <= MAX_TEXT:
        yield scanned.data[begin:end].tobytes(), _probes(left)
        return
    if not left:
        yield _plain_view(scanned, index), ()
    for _ in range(_MOST_VIEWS):
        if not left:
            return
        start = max(left[0][0] - _BEFORE, begin)
        raw = b""
        if start - begin > _HEAD_OF_LONG:
            raw = scanned.data[begin : begin + _HEAD_OF_LONG].tobytes() + _FAR
        else:
            start = begin
        stop = start + MAX_TEXT - len(raw)
        seen = [hit for hit in left if hit[0] <= stop - _AFTER or hit is left[0]]
        left = left[len(seen) :]
        yield raw + scanned.data[start : min(stop, end)].tobytes(), _probes(seen)


def _plain_view(scanned: Scanned, index: int) -> bytes:
    """Take a line; of a very long one its beginning and its end."""
    begin, end = int(scanned.starts[index]), int(scanned.starts[index + 1])
    if end - begin <= MAX_TEXT:
        return scanned.data[begin:end].tobytes()
    head = scanned.data[begin : begin + MAX_TEXT // 2].tobytes()
    return head + _FAR + scanned.data[end - MAX_TEXT // 2 + len(_FAR) : end].tobytes()


def _probes(hits: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(sorted(probe for _, probe in hits))
