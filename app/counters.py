"""Counters of steps: which readings are those of the last one, and whether its total was in sight.

Steps are printed one in so many, so the last of all may be one that nobody printed: what counts is
whether the next reading was to come before the total.
"""

from collections.abc import Sequence

from app.model import Point


def last_counter(points: Sequence[Point]) -> tuple[Point, ...]:
    """Give the readings of the counter that tells its total and was read last; none without one."""
    counted = [point for point in points if point.total_steps and not point.evaluates]
    if not counted:
        return ()
    end = counted[-1]
    return tuple(p for p in counted if (p.file, p.series) == (end.file, end.series))


def stride(own: Sequence[Point]) -> int:
    """Tell by how much a counter went on between its last two readings; 0 of a single one."""
    return (own[-1].step or 0) - (own[-2].step or 0) if len(own) > 1 else 0


def is_short_of_its_total(own: Sequence[Point]) -> bool:
    """Say whether more readings of a counter were to come: the next would lie before its total."""
    if not own:
        return False
    return (own[-1].step or 0) + max(1, stride(own)) < (own[-1].total_steps or 0)
