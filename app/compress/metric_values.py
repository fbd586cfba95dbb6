"""The quantities of one metric line, taken from its parts where the recipe says that they stand."""

import math
from collections.abc import Sequence

from app.compress.metric_fields import number
from app.compress.metric_memory import Block
from app.compress.metrics import Recipe

_LARGEST_STEP = 1e15


def progress(how: Recipe, parts: Sequence[str]) -> tuple[int | None, int | None]:
    """Give the step and its total; no total that belongs to another count."""
    step = whole(parts[how.step]) if how.step else None
    total = whole(parts[how.total]) if how.total else None
    if step is None or total is None or total < max(1, step):
        return step, None
    if how.counted:
        counted = whole(parts[how.counted])
        if counted is None or abs(counted - step) > 1:
            return step, None
    return step, total


def epoch_of(
    how: Recipe, parts: Sequence[str], block: Block | None
) -> tuple[int | None, int | None]:
    """Give the epoch and the last one, as the line tells or the head line above it."""
    if how.epoch:
        return whole(parts[how.epoch]), whole(parts[how.epochs]) if how.epochs else None
    if block is not None and block.head.series == "epoch" and not how.by_epoch:
        return block.step, block.total
    return None, None


def whole(token: str) -> int | None:
    """Read a whole number; None of another or one that no counter reaches."""
    if token.isdecimal() and len(token) < 16:
        return int(token)
    value = number(token)
    return int(value) if 0 <= value < _LARGEST_STEP and value == int(value) else None


def norm(token: str) -> float:
    """Read a gradient norm; InternEvo says -1 for an infinite one and -2 for NaN."""
    value = number(token)
    if value < 0:
        return math.inf if value == -1 else math.nan
    return value


def seconds_of_step(how: Recipe, parts: Sequence[str]) -> float | None:
    """Give how long a step took, also where a rate is told."""
    value = number(parts[how.seconds])
    if not 0 < value < math.inf:
        return None
    return round(1 / value if how.inverted else value / how.divisor, 9)
