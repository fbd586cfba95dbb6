"""Find a progress bar that is drawn on and on while it stands at one step.

A bar holds a clock of its own: the time since it began, `[1:02:11<35:10, 3.4s/it]`. Where it is
refreshed by a thread, or printed by a monitor, that clock goes on after the last step was made.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from app.detect.tracks import Track
from app.model import Point

_ELAPSED = re.compile(r"\[(?:(\d+):)?(\d+):(\d\d)<")
_FEWEST = 4  # readings that moved, and of those that did not
_LEAST_SECONDS = 900.0
_LONGEST_TIMES, _USUAL_TIMES = 5.0, 20.0  # as for other silences


@dataclass(frozen=True, slots=True)
class Frozen:
    """The first reading of the step at which a bar stands, and for how many seconds it does."""

    since: Point
    seconds: float


def frozen(all_tracks: Sequence[Track]) -> Frozen | None:
    """Say whether the series that was printed last is a bar that stands still."""
    last = max(all_tracks, key=lambda t: (t.last.file, t.last.number, len(t.points)), default=None)
    if last is None or last.last.step is None or last.last.step == last.last.total_steps:
        return None
    read = [(p, clock) for p in last.run() if (clock := _elapsed(p.text)) is not None]
    standing = [(p, clock) for p, clock in read if p.step == last.last.step]
    moving = read[: len(read) - len(standing)] + standing[:1]
    if len(standing) < _FEWEST or len(moving) <= _FEWEST or read[-1][0] is not last.last:
        return None
    gaps = [clock - before for (_, before), (_, clock) in pairwise(moving) if clock > before]
    seconds = standing[-1][1] - standing[0][1]
    if not gaps:
        return None
    due = max(_LEAST_SECONDS, _LONGEST_TIMES * max(gaps), _USUAL_TIMES * median(gaps))
    return Frozen(standing[0][0], seconds) if seconds >= due else None


def _elapsed(text: str) -> int | None:
    found = _ELAPSED.search(text)
    return int(found[1] or 0) * 3600 + int(found[2]) * 60 + int(found[3]) if found else None
