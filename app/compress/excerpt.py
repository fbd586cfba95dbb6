"""Choose the lines of a log that a careful reader needs, as many as there is room for.

A short log is shown whole, and a longer one without the lines that can be spared (see `spare`).
Where that is still too much the reader wants, in this order: the faults with what stands round
them, how the log ends and begins, the first tracebacks whole and the end of one of each other kind,
the first line of each kind that speaks of trouble, the last words of ranks, and then the first line
of each kind, rarest first. Whatever was chosen is read in the order of the log. Lines of earlier
attempts stand back behind those of the attempt that is judged.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from app.compress.spare import Spare, spare
from app.model import Attempt, Compressed, Line

NEAR = 2  # lines; what stands between is blank, or marks, more often than not
GAP = 10  # tokens of a note that tells how many lines are left out
_LEAST_ROOM = 20  # tokens, for a line and the note before it
_SHORT = 3  # a log that takes no more than such a part of the room is shown with all its lines
_CLOSE, _FAR = (1, 3), 8  # neighbours of a fault; of the close ones none is spared
_LAST, _END, _BEGIN = 6, 16, 6  # lines of a log of one file
_LONG_END = 60
_MOST_FILES = 40
_HEAD = "Traceback (most recent call last)"
_LONGEST_TRACE = 400  # lines among which the end of a traceback is looked for
_TRACES = ((8, 40), (2, 12))  # first and last lines of the first one, and of the second
_OTHER_TRACE = (2, 7)  # and of others
_MOST_TROUBLE = 60
_MOST_RARE = 80
_MOST_RANKS = 24
_LAST_WORDS = 2
_ALIKE = 2  # lines of one shape that are chosen for their words
# [rank0]:          ^^^^^^^^^^^^^^^^^^^
_CARETS = re.compile(r"(?:[^\^~]{0,160}\s\s)?[\s^~]*[\^~]+\s*|\s*")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Indices of the chosen lines in their order; `is_whole` where no more than routine lacks."""

    indices: Sequence[int]
    spared: Spare
    is_whole: bool


def excerpt(
    log: Compressed,
    faults: Sequence[int],
    attempts: Sequence[Attempt],
    cost: Callable[[int], int],
    room: int,
) -> Excerpt:
    """Choose lines whose costs add up to no more than the room.

    `faults` are the places that matter most, the first ones first. Each run of chosen lines costs a
    note of `GAP` tokens more.
    """
    spared = spare(log)
    choice = _Choice(log, faults, attempts, spared)
    every = [index for index, line in enumerate(log.lines) if not is_bare(line.text)]
    if choice.fits(every, cost, room // _SHORT):
        return Excerpt(every, spared, is_whole=True)
    needed = set(choice.needed())
    telling = [index for index in every if index in needed or index not in spared]
    if choice.fits(telling, cost, room):
        return Excerpt(telling, spared, is_whole=True)
    return Excerpt(choice.filled(cost, room), spared, is_whole=False)


def is_bare(text: str) -> bool:
    """Say whether a line holds nothing but marks below the line before."""
    return _CARETS.fullmatch(text) is not None


class _Choice:
    """The lines of a log, and which of them a reader wants first."""

    def __init__(
        self,
        log: Compressed,
        faults: Sequence[int],
        attempts: Sequence[Attempt],
        spared: Spare,
    ) -> None:
        self.lines = log.lines
        self._faults = faults
        self._spared = spared
        last = attempts[-1] if attempts else None
        self.own = [
            index
            for index, line in enumerate(log.lines)
            if last is None or last.holds(line.file, line.number)
        ]

    def needed(self) -> Iterator[int]:
        """What no reader can do without, though it be said over and over."""
        yield from self.round(max(_CLOSE))
        yield from self.edges(self.own, _LAST)
        yield from self._tracebacks()
        yield from self._last_words()

    def fits(self, indices: Sequence[int], cost: Callable[[int], int], room: int) -> bool:
        """Say whether lines cost no more than the room, with the notes between them."""
        before = -1
        for index in indices:
            room -= cost(index) + (0 if self._joined(before, index) else GAP)
            before = index
            if room < 0:
                return False
        return True

    def filled(self, cost: Callable[[int], int], room: int) -> list[int]:
        """Take lines by need until the room is filled."""
        taken: set[int] = set()
        for index in self._by_need():
            if index in taken or is_bare(self.lines[index].text):
                continue
            before = index - 1 in taken and self._joined(index - 1, index)
            behind = index + 1 in taken and self._joined(index, index + 1)
            price = cost(index) + GAP * (1 - before - behind)
            if price <= room:
                taken.add(index)
                room -= price
            if room < _LEAST_ROOM:
                break
        return sorted(taken)

    def round(self, far: int) -> Iterator[int]:
        """The faults with their neighbours, the first ones first."""
        for at in self._faults:
            near = range(max(0, at - far), min(len(self.lines), at + far + 1))
            yield from (i for i in near if self.lines[i].file == self.lines[at].file)

    def edges(self, wanted: Iterable[int], end: int) -> Iterator[int]:
        """The end of each file, nearest to it first, then its beginning."""
        of_file: dict[int, list[int]] = {}
        for index in wanted:
            of_file.setdefault(self.lines[index].file, []).append(index)
        files = list(of_file.values())
        each = max(3, end // max(1, len(files)))
        for back in range(1, each + 1):
            yield from (own[-back] for own in files[-_MOST_FILES:] if back <= len(own))
        for own in files[:_MOST_FILES]:
            yield from own[: max(2, _BEGIN // len(files))]

    def _joined(self, first: int, second: int) -> bool:
        if first < 0:
            return False
        one, other = self.lines[first], self.lines[second]
        return one.file == other.file and other.number <= one.number + NEAR

    def _by_need(self) -> Iterator[int]:
        lines, own = self.lines, self.own
        telling = [index for index in own if index not in self._spared]
        yield from self._faults
        for far in _CLOSE:
            yield from self.round(far)
        yield from self.edges(own, _LAST)
        yield from self._tracebacks()
        yield from (i for i in self.round(_FAR) if i not in self._spared)
        yield from self.edges(telling, _END)
        seen: dict[str, int] = {}
        trouble = self._new((i for i in own if i in self._spared.trouble), seen, _ALIKE)
        yield from islice(trouble, _MOST_TROUBLE)
        yield from self._last_words()
        yield from trouble
        yield from self.edges(telling, _LONG_END)
        faults = set(self._faults)
        rare = self._new((i for i in self._rarest(telling) if i not in faults), seen, 1)
        yield from islice(rare, _MOST_RARE)
        every = [index for index in range(len(lines)) if index not in self._spared]
        yield from self.edges(every, _END)
        yield from self._new(every, seen, _ALIKE)

    def _tracebacks(self) -> Iterator[int]:
        """The first two tracebacks, those with a fault before others, and less of other kinds."""
        seen: set[str] = set()
        heads = [at for at, i in enumerate(self.own) if _HEAD in self.lines[i].text]
        blocks = [self._block(at) for at in heads]
        faults = set(self._faults)
        for block in sorted(blocks, key=lambda block: faults.isdisjoint(block)):
            kind = self._spared.shapes[block[-1]]
            if kind not in seen:
                head, tail = _TRACES[len(seen)] if len(seen) < len(_TRACES) else _OTHER_TRACE
                seen.add(kind)
                yield from reversed(block[-tail:])
                yield from block[:head]

    def _block(self, at: int) -> list[int]:
        """Follow one printer from the head of a traceback to its exception."""
        first = self.lines[self.own[at]]
        begin, _, _ = first.text.partition(_HEAD)
        block = [self.own[at]]
        for index in self.own[at + 1 : at + _LONGEST_TRACE]:
            line = self.lines[index]
            if (line.file, line.rank, line.stream) != (first.file, first.rank, first.stream):
                continue
            block.append(index)
            if begin.strip() and line.text.startswith(begin):
                is_end = _depth(line.text[len(begin) :]) == 0
            else:
                is_end = _depth(line.text) <= _depth(first.text)
            if is_end:
                break
        return block

    def _last_words(self) -> Iterator[int]:
        """What each rank said last, those first that fell silent first; of many alike a few."""
        of_rank: dict[tuple[str | None, int], list[int]] = {}
        for index in self.own:
            line = self.lines[index]
            if line.rank is not None:
                of_rank.setdefault((line.host, line.rank), []).append(index)
        silent = sorted(of_rank.values(), key=lambda words: _moment(self.lines[words[-1]]))
        last = (index for words in silent[:_MOST_RANKS] for index in words[-_LAST_WORDS:])
        yield from self._new(last, {}, _ALIKE)

    def _rarest(self, wanted: Sequence[int]) -> list[int]:
        """Sort lines by how rare their shape is, of equals the later ones first."""
        shapes = self._spared.shapes
        counts: dict[str, int] = {}
        for index in wanted:
            counts[shapes[index]] = counts.get(shapes[index], 0) + 1
        return sorted(wanted, key=lambda index: (counts[shapes[index]], -index))

    def _new(self, wanted: Iterable[int], seen: dict[str, int], most: int) -> Iterator[int]:
        """Pass on lines unless as many of their shape were passed on before."""
        for index in wanted:
            key = self._spared.shapes[index]
            if seen.get(key, 0) < most:
                seen[key] = seen.get(key, 0) + 1
                yield index


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())


def _moment(line: Line) -> tuple[float, int]:
    return (line.time if line.time is not None else float("inf")), line.number
