"""Find where a file begins again, behind an end, in the words in which it began: another run.

A program that is started opens with the same lines each time. One such line proves little, since a
model that is saved reads its settings again; several in a row do, if they are no part of what a run
repeats by itself, as ranks do at the start and epochs all the time.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from app.detect.alike import in_kind
from app.model import Compressed, Line, Marked

_IN_A_ROW = 3
_TWICE = 2
_HEAD = 40  # lines within which ranks may open one after another, and fewer than a run has
_FEWEST_WORDS = 2
_TELLS_RESULTS = re.compile(
    r"eval|valid|\btest|metric|result|accura|predict|generat|saved|done|finish|complete",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{3,}")


def reopened_runs(log: Compressed, marks: Iterable[Marked]) -> Mapping[int, list[int]]:
    """Give the line numbers where a run begins behind an end, by file."""
    ends: dict[int, int] = {}
    plain: dict[int, int] = {}
    for mark in marks:
        if mark.kind == "finished":
            ends.setdefault(mark.line.file, mark.line.number)
        if mark.grade in ("trainer", "wrapper"):
            plain.setdefault(mark.line.file, mark.line.number)
    metrics: dict[int, set[int]] = defaultdict(set)
    for point in log.points:
        metrics[point.file].add(point.number)
    lines: dict[int, list[Line]] = defaultdict(list)
    for line in log.lines:
        if line.file in ends and line.number not in metrics[line.file] and _is_telling(line):
            lines[line.file].append(line)
    found = {
        file: _opened_again(end, lines[file])
        or _opened_soon(plain.get(file), lines[file], metrics[file])
        for file, end in ends.items()
    }
    return {file: own for file, own in found.items() if own}


def _opened_soon(end: int | None, lines: Sequence[Line], metrics: Collection[int]) -> list[int]:
    """Find the one other run that follows a short one, which trained and plainly ended.

    Who loads the best model in order to judge it reads what was read at first. Where the first line
    alone comes again it must tell other numbers: those of another run.
    """
    opened = _openings(lines)
    if len(opened) < _TWICE:
        opened = _first_with_other_numbers(lines)
    if end is None or len(opened) != _TWICE or not opened[0] < end < opened[1]:
        return []
    behind = [line for line in lines if line.number > opened[1]]
    judged = any(_TELLS_RESULTS.search(line.text) for line in behind)
    if judged and not any(number > opened[1] for number in metrics):
        return []
    return opened[1:] if any(opened[0] < number < end for number in metrics) else []


def _first_with_other_numbers(lines: Sequence[Line]) -> list[int]:
    alike = [line for line in lines if in_kind(line) == in_kind(lines[0])]
    return [line.number for line in alike] if len({line.text for line in alike}) > 1 else []


def _opened_again(end: int, lines: Sequence[Line]) -> list[int]:
    opened = _openings(lines)
    if not opened:
        return []
    behind = [number for number in opened if number > end]
    if any(_HEAD < number <= end for number in opened):
        return []
    apart = pairwise([lines[0].number, *behind])
    return [] if any(later - sooner < _HEAD for sooner, later in apart) else behind


def _openings(lines: Sequence[Line]) -> list[int]:
    """Give where the first lines of a file stand in a row, which its beginning is."""
    kinds = [in_kind(line) for line in lines]
    first = kinds[:_IN_A_ROW]
    if len(set(first)) <= 1:
        return []
    return [
        line.number for place, line in enumerate(lines) if kinds[place : place + _IN_A_ROW] == first
    ]


def _is_telling(line: Line) -> bool:
    return len(_WORD.findall(line.text)) >= _FEWEST_WORDS
