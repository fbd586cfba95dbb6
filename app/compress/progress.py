"""Tell how training went: what its metrics came to, and the few lines that show it.

Of each quantity of the longest series the first and the last value, the lowest and the highest, the
largest rise, what is usual in each of ten equal parts, and whether it stopped being a number; and
as printed the first readings, the last, one halfway, and those where the loss turned.
"""

import math
from collections.abc import Callable, Sequence
from statistics import median

from app.model import Point

_MOST_SERIES = 4
_FIRST, _LAST = 2, 3
_MOST_LINES = 24
_PARTS = 10
_QUANTITIES: tuple[tuple[str, Callable[[Point], float | None]], ...] = (
    ("loss", lambda point: point.loss),
    ("gradient norm", lambda point: point.grad_norm),
    ("loss scale", lambda point: point.loss_scale),
    ("seconds of a step", lambda point: point.step_seconds),
)

Reading = tuple[Point, float]


def progress(points: Sequence[Point]) -> tuple[list[str], list[Point]]:
    """Give sentences, and the points that show them, in the order of the log.

    Where several ranks tell the same, the one that tells most is heard.
    """
    series: dict[tuple[int, int | None, str], list[Point]] = {}
    for point in points:
        series.setdefault((point.file, point.rank, point.series), []).append(point)
    best: dict[str, list[Point]] = {}
    for (_, _, name), own in series.items():
        best[name] = max(best.get(name, []), own, key=len)
    longest = sorted(best.values(), key=len, reverse=True)[:_MOST_SERIES]
    told = [sentence for own in longest for sentence in _sentences(own)]
    shown = {(p.file, p.number): p for own in longest for p in _shown(own) if p.text}
    chosen = [shown[place] for place in sorted(shown)]
    return list(dict.fromkeys(told)), chosen[: _MOST_LINES // 2] + chosen[_MOST_LINES // 2 :][
        -_MOST_LINES // 2 :
    ]


def _sentences(own: Sequence[Point]) -> list[str]:
    told = []
    for name, value in _QUANTITIES:
        readings = [(point, at) for point in own if (at := value(point)) is not None]
        if len(readings) > 1:
            of_what = f"{name} of evaluation" if own[0].evaluates else name
            told.append(_sentence(of_what, readings))
    return told


def _sentence(name: str, readings: Sequence[Reading]) -> str:
    """For instance `loss: 40 readings, 11.9 at step 1 to 8.06 at step 400; lowest …`."""
    first, last = _at(readings[0]), _at(readings[-1])
    parts = [f"{name}: {len(readings)} readings, {first} to {last}"]
    finite = [reading for reading in readings if math.isfinite(reading[1])]
    if finite:
        low = min(finite, key=lambda reading: reading[1])
        high = max(finite, key=lambda reading: reading[1])
        if low[1] < high[1]:
            parts.append(f"lowest {_at(low)}, highest {_at(high)}")
        rise = _largest_rise(finite)
        if rise is not None:
            parts.append(f"largest rise from {rise[0][1]:.4g} to {_at(rise[1])}")
        if len(finite) >= 2 * _PARTS:
            parts.append(f"medians of {_PARTS} equal parts: {_medians(finite)}")
    lost = [reading for reading in readings if not math.isfinite(reading[1])]
    if lost:
        parts.append(f"{len(lost)} are no number, from {_at(lost[0])} to {_at(lost[-1])}")
    return "; ".join(parts)


def _medians(finite: Sequence[Reading]) -> str:
    edges = [place * len(finite) // _PARTS for place in range(_PARTS + 1)]
    parts = [finite[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    return ", ".join(f"{median(value for _, value in part):.4g}" for part in parts)


def _at(reading: Reading) -> str:
    point, value = reading
    where = f"line {point.number}" if point.step is None else f"step {point.step}"
    return f"{value:.4g} at {where}"


def _largest_rise(finite: Sequence[Reading]) -> tuple[Reading, Reading] | None:
    pairs = list(zip(finite, finite[1:], strict=False))
    if not pairs:
        return None
    pair = max(pairs, key=lambda pair: pair[1][1] - pair[0][1])
    return pair if pair[1][1] > pair[0][1] else None


def _shown(own: Sequence[Point]) -> list[Point]:
    count = len(own)
    wanted = {*range(min(_FIRST, count)), *range(max(0, count - _LAST), count), count // 2}
    for turn in _turns(own):
        wanted |= set(range(max(0, turn - 1), min(count, turn + 2)))
    return [own[index] for index in sorted(wanted)]


def _turns(own: Sequence[Point]) -> list[int]:
    """Where the loss is lowest, highest, rises most, and first is no number."""
    losses = {i: p.loss for i, p in enumerate(own) if p.loss is not None}
    finite = {i: loss for i, loss in losses.items() if math.isfinite(loss)}
    turns = [i for i in losses if i not in finite][:1]
    if finite:
        turns += [min(finite, key=lambda i: finite[i]), max(finite, key=lambda i: finite[i])]
    known = list(finite)
    rises = {b: finite[b] - finite[a] for a, b in zip(known, known[1:], strict=False)}
    return turns + ([max(rises, key=lambda i: rises[i])] if rises else [])
