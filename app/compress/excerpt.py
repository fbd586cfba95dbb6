"""Choose the lines of a log that a careful reader needs, as many as there is room for.

A short log is shown whole. Of a longer one the reader wants, in this order: the faults with what
stands round them, how the log ends and begins, one traceback of each kind whole, the first line of
each kind that speaks of trouble, the last words of ranks, and then the first line of each kind,
rarest first. Whatever was chosen is read in the order of the log. Lines of earlier attempts stand
back behind those of the attempt that is judged.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice

from app.model import Attempt, Compressed, Line

NEAR = 2  # lines; what stands between is blank, or marks, more often than not
GAP = 7  # tokens of a note that tells how many lines are left out
_LEAST_ROOM = 20  # tokens, for a line and the note before it
_ROUND = (1, 3, 8)  # neighbours of a fault, nearest first
_LAST, _END, _BEGIN = 6, 16, 6  # lines of a log of one file
_LONG_END = 60
_MOST_FILES = 40
_LONGEST_TRACE = 400  # lines among which the end of a traceback is looked for
_TRACE_HEAD, _TRACE_TAIL = 4, 24  # lines of the first one
_LATER_HEAD, _LATER_TAIL = 2, 7  # and of others
_MOST_TROUBLE = 60
_MOST_RANKS = 24
_LAST_WORDS = 2
_ALIKE = 2  # lines of one shape that are chosen for their words
_TROUBLE = re.compile(
    r"error|fail|fatal|exception|abort|killed|kill |signal|terminat|timeout|timed out|cancel"
    r"|refused|lost|corrupt|denied|no space|not found|unable|cannot|could not|invalid|preempt"
    r"|nan\b|\binf\b|overflow|oom|out of memory|exit|hang|stuck|xid|panic|unreachable|disconnect",
    re.IGNORECASE,
)
# [rank0]:          ^^^^^^^^^^^^^^^^^^^
_CARETS = re.compile(r"[\s^~]+")
_VOLATILE = re.compile(r"0x[0-9a-fA-F]+|\d+")


def chosen(
    log: Compressed,
    faults: Collection[int],
    attempts: Sequence[Attempt],
    cost: Callable[[int], int],
    room: int,
) -> list[int]:
    """Give indices of `log.lines` in their order, whose costs add up to no more than the room.

    Each run of chosen lines costs a note of `GAP` tokens more.
    """
    lines = log.lines
    every = [index for index, line in enumerate(lines) if not is_bare(line)]
    if _all_fit(every, cost, room - GAP * _gaps(log)):
        return every
    taken: set[int] = set()
    for index in _by_need(log, faults, attempts):
        if index in taken or is_bare(lines[index]):
            continue
        before = index - 1 in taken and _join(lines[index - 1], lines[index])
        behind = index + 1 in taken and _join(lines[index], lines[index + 1])
        price = cost(index) + GAP * (1 - before - behind)
        if price <= room:
            taken.add(index)
            room -= price
        if room < _LEAST_ROOM:
            break
    return sorted(taken)


def _all_fit(every: Iterable[int], cost: Callable[[int], int], room: int) -> bool:
    for index in every:
        room -= cost(index)
        if room < 0:
            return False
    return True


def _gaps(log: Compressed) -> int:
    pairs = zip(log.lines, log.lines[1:], strict=False)
    return 1 + sum(not _join(first, second) for first, second in pairs)


def _join(first: Line, second: Line) -> bool:
    return first.file == second.file and second.number <= first.number + NEAR


def is_bare(line: Line) -> bool:
    """Say whether a line holds nothing but marks below the line before."""
    return _CARETS.fullmatch(line.text) is not None


def _by_need(
    log: Compressed, faults: Collection[int], attempts: Sequence[Attempt]
) -> Iterator[int]:
    lines = log.lines
    own = [i for i, line in enumerate(lines) if not attempts or _is_last(line, attempts)]
    yield from faults
    for far in _ROUND:
        for at in faults:
            near = range(max(0, at - far), min(len(lines), at + far + 1))
            yield from (i for i in near if lines[i].file == lines[at].file)
    shapes: dict[str, int] = {}
    yield from _edges(lines, own, _LAST)
    yield from _tracebacks(lines, own)
    yield from _edges(lines, own, _END)
    trouble = _new(lines, (i for i in own if _TROUBLE.search(lines[i].text)), shapes, _ALIKE)
    yield from islice(trouble, _MOST_TROUBLE)
    yield from _last_words(lines, own)
    yield from trouble
    yield from _edges(lines, own, _LONG_END)
    rare = [i for i in _rarest(lines, own) if i not in faults]
    yield from _new(lines, rare, shapes, 1)
    yield from _edges(lines, range(len(lines)), _END)
    yield from _new(lines, range(len(lines)), shapes, _ALIKE)


def _is_last(line: Line, attempts: Sequence[Attempt]) -> bool:
    return attempts[-1].holds(line.file, line.number)


def _edges(lines: Sequence[Line], own: Iterable[int], end: int) -> Iterator[int]:
    """The end of each file, nearest to it first, then its beginning."""
    of_file: dict[int, list[int]] = {}
    for index in own:
        of_file.setdefault(lines[index].file, []).append(index)
    files = list(of_file.values())
    each = max(3, end // max(1, len(files)))
    for back in range(1, each + 1):
        yield from (own[-back] for own in files[-_MOST_FILES:] if back <= len(own))
    for own in files[:_MOST_FILES]:
        yield from own[: max(2, _BEGIN // len(files))]


def _tracebacks(lines: Sequence[Line], own: Sequence[int]) -> Iterator[int]:
    """The first traceback, and less of the first of each further kind."""
    seen: set[str] = set()
    for at, index in enumerate(own):
        if "Traceback (most recent call last)" not in lines[index].text:
            continue
        block = _block(lines, own, at)
        kind = _shape(lines[block[-1]].text)
        if kind not in seen:
            is_first = not seen
            seen.add(kind)
            yield from reversed(block[-(_TRACE_TAIL if is_first else _LATER_TAIL) :])
            yield from block[: _TRACE_HEAD if is_first else _LATER_HEAD]


def _block(lines: Sequence[Line], own: Sequence[int], at: int) -> list[int]:
    """Follow one printer from the head of a traceback to its exception."""
    first = lines[own[at]]
    block = [own[at]]
    for index in own[at + 1 : at + _LONGEST_TRACE]:
        line = lines[index]
        if (line.file, line.rank, line.stream) != (first.file, first.rank, first.stream):
            continue
        block.append(index)
        if line.text[:1].strip():
            break
    return block


def _last_words(lines: Sequence[Line], own: Sequence[int]) -> Iterator[int]:
    """What each rank said last; those first that fell silent first."""
    of_rank: dict[tuple[str | None, int], list[int]] = {}
    for index in own:
        rank = lines[index].rank
        if rank is not None:
            of_rank.setdefault((lines[index].host, rank), []).append(index)
    silent = sorted(of_rank.values(), key=lambda words: _moment(lines[words[-1]]))
    for words in silent[:_MOST_RANKS]:
        yield from words[-_LAST_WORDS:]


def _moment(line: Line) -> tuple[float, int]:
    return (line.time if line.time is not None else float("inf")), line.number


def _rarest(lines: Sequence[Line], own: Sequence[int]) -> list[int]:
    counts: dict[str, int] = {}
    for index in own:
        shape = _shape(lines[index].text)
        counts[shape] = counts.get(shape, 0) + 1
    return sorted(own, key=lambda index: counts[_shape(lines[index].text)])


def _new(
    lines: Sequence[Line],
    wanted: Iterable[int],
    shapes: dict[str, int],
    most: int,
) -> Iterator[int]:
    """Pass on lines unless as many of their shape were passed on before."""
    for index in wanted:
        key = _shape(lines[index].text)
        if shapes.get(key, 0) < most:
            shapes[key] = shapes.get(key, 0) + 1
            yield index


def _shape(text: str) -> str:
    return _VOLATILE.sub("#", text[:240])
