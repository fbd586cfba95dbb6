"""Words of an end that are said again and again: after each epoch, round or game.

What training went on after says nothing of the last time that it is said. A hint is belied by one
step; a trainer's word must be belied twice, as a job may train several models in turn. Where the
steps cannot be read, a count in words tells it: `Iteration 4` stands between two such words, and
`Iteration 5` between the next two.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from app.detect.counted import has_steps_to_go
from app.model import Line, Marked, Point

_DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_BELIED = 2  # times that training went on after a word that says it is done
# == Iteration 4 ==   after Epoch: 4   Game #4:
_COUNT = re.compile(
    r"\b(?:epoch|iteration|iter|round|episode|cycle|generation|game)s?\b\W{0,3}(\d{1,9})\b",
    re.IGNORECASE,
)


def in_words(mark: Marked) -> str:
    """Give the words of a mark without its numbers."""
    return _DIGITS.sub("#", mark.line.text)


def routine(
    marks: Sequence[Marked],
    points: Sequence[Point],
    lines: Sequence[Line],
    belied: Collection[str],
) -> set[str]:
    """Give the words that are said again and again; `belied` are those that a step suffices for."""
    said: dict[tuple[str, int | None], list[Line]] = defaultdict(list)
    for mark in marks:
        if mark.kind == "finished":
            own = said[in_words(mark), mark.line.rank]
            if not own or own[-1].number != mark.line.number:
                own.append(mark.line)
    most = 1 if has_steps_to_go(points) else _BELIED
    again = {
        words
        for (words, _), own in said.items()
        if len(own) > 1
        and (
            sum(_trains_between(first, last, points) for first, last in pairwise(own)) >= most
            or _is_counted_between(own, lines)
        )
    }
    return again | set(belied)


def _trains_between(first: Line, last: Line, points: Sequence[Point]) -> bool:
    return any(
        point.file == first.file
        and first.number < point.number < last.number
        and (point.step is not None or point.loss is not None)
        and not point.evaluates
        for point in points
    )


def _is_counted_between(own: Sequence[Line], lines: Sequence[Line]) -> bool:
    """Say whether a count in words goes up from each gap between the words to the next."""
    if len(own) <= _BELIED:
        return False
    told = [_counts(first, last, lines) for first, last in pairwise(own)]
    return any(
        all(kind in gap for gap in told)
        and all(one[kind] < other[kind] for one, other in pairwise(told))
        for kind in told[0]
    )


def _counts(first: Line, last: Line, lines: Sequence[Line]) -> Mapping[str, int]:
    return {
        _DIGITS.sub("#", line.text): int(found[1])
        for line in lines
        if line.file == first.file
        and first.number < line.number < last.number
        and (found := _COUNT.search(line.text))
    }
