"""What is usual in a series of readings: how far they scatter, and the gradient norm beside them.

All is told by medians, since a spike would move means and deviations itself.
"""

import math
from collections.abc import Sequence
from statistics import median

from app.model import Point

_SCALED_MAD = 1.4826
_LEAST_SPREAD = 0.02  # of the level; coarse losses (bf16) have a MAD of zero
_TOGETHER = 5  # readings that have to come back together
_ROUGHER = 2.0  # times the noise
_FEWEST_TO_TELL = 20  # readings, whether the noise grew
_FEWEST_NORMS = 3
_CLIPPED = 0.01  # of the norm: how far norms differ that are printed after clipping


def noise_of(window: Sequence[float], level: float) -> float:
    """Estimate the deviation from steps between neighbours, which a falling loss leaves alone."""
    steps = [abs(later - loss) for loss, later in zip(window, window[1:], strict=False)]
    return max(_SCALED_MAD * median(steps) / math.sqrt(2), _LEAST_SPREAD * abs(level))


def is_rougher(before: Sequence[float], after: Sequence[float]) -> bool:
    """Say whether the noise grew beyond what the level did, over enough readings to tell."""
    if len(before) < _FEWEST_TO_TELL or len(after) < _FEWEST_TO_TELL:
        return False
    old, new = _roughness(before), _roughness(after[_TOGETHER:])
    return old > 0 and new >= _ROUGHER * old


def _roughness(losses: Sequence[float]) -> float:
    steps = (abs(later - loss) for loss, later in zip(losses, losses[1:], strict=False))
    return median(steps) / median(losses)


def smoothed(rest: Sequence[float]) -> list[float]:
    """Medians of neighbours; of a few readings each speaks for itself."""
    if len(rest) < _TOGETHER:
        return list(rest)
    return [median(rest[i : i + _TOGETHER]) for i in range(len(rest) - _TOGETHER + 1)]


def growth_of_norm(before: Sequence[Point], after: Sequence[Point]) -> float | None:
    """Tell how the gradient norm changed; None where it is not told, or told after clipping."""
    old, new = norms_of(before), norms_of(after)
    if len(old) < _TOGETHER or len(new) < _FEWEST_NORMS or median(old) <= 0:
        return None
    growth = median(new) / median(old)
    return None if abs(growth - 1) < _CLIPPED and _is_clipped(new) else growth


def _is_clipped(norms: Sequence[float]) -> bool:
    """Say whether most norms read the same: the threshold to which they were cut."""
    usual = median(norms)
    return median(abs(norm - usual) for norm in norms) < _CLIPPED * usual


def norms_of(points: Sequence[Point]) -> list[float]:
    """Give the gradient norms that are told and are numbers."""
    norms = (point.grad_norm for point in points)
    return [norm for norm in norms if norm is not None and math.isfinite(norm)]
