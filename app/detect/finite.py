"""Find losses and gradients that stopped being numbers, however a trainer shows it.

One overflow is how mixed precision finds its loss scale, so only what lasts to the end of a
series counts: readings that are NaN or infinite, a loss column that is gone since the trainer
leaves out what is no number, or a loss scale that slid to its minimum while nothing was learnt.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.detect.tracks import Track
from app.model import Point

_FEWEST_BROKEN = 3
_FEWEST_INFINITE = 20  # norms alone: the scale of fp16 is searched for in up to so many steps
_FEWEST_GONE = 5  # readings without the loss that all others had
_USUALLY = 0.9
_OTHERS_LEARN = 10  # finite readings of another series in the same time
_SCALE_MINIMUM = 1.0
_SCALE_BEFORE = 64.0
_STILL_LEARNS = 20


@dataclass(frozen=True, slots=True)
class Broken:
    """What broke, at which reading, and for how many readings up to the end."""

    onset: Point
    readings: int
    what: Literal["loss", "gradient norm", "loss column", "loss scale"]
    lasts: bool = True


def broken(track: Track) -> Broken | None:
    """Say from where on a series holds no usable numbers any more."""
    first = _first_of_tail(track)
    if first is None:
        return None
    tail = track.points[first:]
    if any(_is_odd(point.loss) for point in tail):
        return Broken(tail[0], len(tail), "loss", len(tail) >= _FEWEST_BROKEN)
    norms = [p.grad_norm for p in tail if p.grad_norm is not None]
    if any(math.isnan(norm) for norm in norms):
        lasts = len(tail) >= _FEWEST_BROKEN
        return Broken(tail[0], len(tail), "gradient norm") if lasts else None
    if any(map(math.isinf, norms)):
        lasts = len(tail) >= _FEWEST_INFINITE or _scale_is_spent(tail)
        return Broken(tail[0], len(tail), "gradient norm") if lasts else None
    return Broken(tail[0], len(tail), "loss column") if len(tail) >= _FEWEST_GONE else None


def _first_of_tail(track: Track) -> int | None:
    """Where the unbroken row of broken readings at the end begins."""
    points = track.points
    column = _tells_loss(points)
    first = len(points)
    while first and _is_broken(points[first - 1], column):
        first -= 1
    return first if first < len(points) else None


def _tells_loss(points: Sequence[Point]) -> bool:
    """Say whether the series had a loss in nearly every reading, before it had none at all."""
    told = [place for place, point in enumerate(points) if point.loss is not None]
    return len(told) >= _FEWEST_GONE and len(told) >= _USUALLY * (told[-1] + 1)


def _is_broken(point: Point, column: bool) -> bool:
    gone = column and point.loss is None
    return gone or _is_odd(point.loss) or _is_odd(point.grad_norm)


def _is_odd(value: float | None) -> bool:
    return value is not None and not math.isfinite(value)


def _scale_is_spent(points: Sequence[Point]) -> bool:
    scale = points[-1].loss_scale
    return scale is not None and scale <= _SCALE_MINIMUM


def learns(track: Track) -> bool:
    """Say whether a series has finite losses up to its end."""
    finite = sum(p.loss is not None and math.isfinite(p.loss) for p in track.points)
    return finite >= _OTHERS_LEARN and not _is_odd(track.last.loss)


def spent_scale(track: Track, all_tracks: Sequence[Track]) -> Broken | None:
    """Find a loss scale that slid from a working value to its minimum and stayed there.

    Series that go on learning at that scale speak against it: bf16 prints 1.0 throughout, and
    fairseq rounds small scales to 0.
    """
    scales = [point for point in track.points if point.loss_scale is not None]
    if not scales or not _scale_is_spent(scales):
        return None
    worked = [i for i, p in enumerate(scales) if (p.loss_scale or 0.0) >= _SCALE_BEFORE]
    if not worked:
        return None
    down = next(i for i in range(worked[-1], len(scales)) if _scale_is_spent(scales[: i + 1]))
    onset = scales[down]
    learns = sum(
        point.file == onset.file
        and point.number > onset.number
        and point.loss is not None
        and not _is_broken(point, column=False)
        for other in all_tracks
        for point in other.points
    )
    return None if learns >= _STILL_LEARNS else Broken(onset, len(scales) - down, "loss scale")
