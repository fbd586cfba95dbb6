"""Training health from the series: loss spikes, losses that are no numbers, stalls."""

from collections.abc import Sequence

from app.model import Ending, Finding, Line, Point


def health(
    points: Sequence[Point], lines: Sequence[Line], ending: Ending
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Give what the series of one attempt shows, and remarks that are no findings."""
    return (), ()
