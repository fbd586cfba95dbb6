"""Choose the metric lines that tell how training went, of each series a few.

The first and the last, some between at even distances, and where the loss was lowest and highest,
changed most, or stopped being a number.
"""

import math
from collections.abc import Sequence

from app.model import Point

_FIRST, _LAST, _BETWEEN = 2, 6, 6
_MOST_SERIES = 4
_TURNS = 2  # points before and behind a turn


def milestones(points: Sequence[Point]) -> list[Point]:
    """Give the chosen points of the longest series, in the order of the log.

    Where several ranks tell the same, the one that tells most is heard.
    """
    series: dict[tuple[int, int | None, str], list[Point]] = {}
    for point in points:
        if point.text:
            series.setdefault((point.file, point.rank, point.series), []).append(point)
    best: dict[str, list[Point]] = {}
    for (_, _, name), own in series.items():
        best[name] = max(best.get(name, []), own, key=len)
    longest = sorted(best.values(), key=len, reverse=True)[:_MOST_SERIES]
    told = {(p.file, p.number): p for own in longest for p in _of_series(own)}
    return [told[place] for place in sorted(told)]


def _of_series(own: Sequence[Point]) -> list[Point]:
    count = len(own)
    wanted = {*range(min(_FIRST, count)), *range(max(0, count - _LAST), count)}
    wanted |= {count * part // (_BETWEEN + 1) for part in range(1, _BETWEEN + 1)}
    for turn in _turns(own):
        wanted |= set(range(max(0, turn - _TURNS), min(count, turn + _TURNS + 1)))
    return [own[index] for index in sorted(wanted)]


def _turns(own: Sequence[Point]) -> list[int]:
    """Where the loss is lowest, highest, jumps most, and first is no number."""
    losses = {i: p.loss for i, p in enumerate(own) if p.loss is not None}
    finite = {i: loss for i, loss in losses.items() if math.isfinite(loss)}
    turns = [i for i in losses if i not in finite][:1]
    if finite:
        turns += [min(finite, key=lambda i: finite[i]), max(finite, key=lambda i: finite[i])]
    known = list(finite)
    jumps = {b: finite[b] - finite[a] for a, b in zip(known, known[1:], strict=False)}
    return turns + ([max(jumps, key=lambda i: jumps[i])] if jumps else [])
