"""Context that stands shortly before something of which it may be the reason counts as a clue.

Cards flap, file systems are slow and processors hang for a while in runs that end well, so such
lines are no cause by themselves. Right before the ranks began to wait in vain they are worth more.
Where clocks are missing, nearness of lines says less: the same printer must speak, and no step of
training may lie between.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.detect.findings import waited
from app.model import Line, Point, Sighting
from app.rulebook.compiled import Compiled
from app.rulebook.signal import Signal, Window

_MOST_TARGETS = 64  # sightings of one signal that are looked back from


@dataclass(frozen=True, slots=True)
class _Target:
    """Something that may have a reason, and the seconds that passed before it was told."""

    line: Line
    waited: float


def with_windows(
    sightings: Sequence[Sighting], points: Sequence[Point], compiled: Compiled
) -> tuple[Sighting, ...]:
    """Raise the contexts that stand within their window to clues."""
    named = compiled.rulebook.signal_named
    told: dict[str, list[_Target]] = {}
    for sighting in sightings:
        signal = named[sighting.signal]
        if sighting.strength != "context":
            target = _Target(sighting.line, waited(sighting.facts, signal.lookback))
            for name in (signal.cause, signal.name):
                if len(known := told.setdefault(name, [])) < _MOST_TARGETS:
                    known.append(target)
    if not told:
        return tuple(sightings)
    steps = _Steps(points)
    return tuple(
        replace(sighting, strength="clue") if _counts(sighting, named, told, steps) else sighting
        for sighting in sightings
    )


class _Steps:
    """Where training made progress."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._of: dict[int, list[int]] = defaultdict(list)
        for point in sorted(points, key=lambda point: point.number):
            self._of[point.file].append(point.number)

    def any_between(self, line: Line, later: Line) -> bool:
        numbers = self._of.get(line.file, [])
        following = bisect_right(numbers, line.number)
        return following < len(numbers) and numbers[following] < later.number


def _counts(
    sighting: Sighting,
    named: Mapping[str, Signal],
    told: dict[str, list[_Target]],
    steps: _Steps,
) -> bool:
    window = named[sighting.signal].window_before
    if window is None or sighting.strength != "context":
        return False
    return any(
        _is_within(sighting.line, target, window, steps) for target in _targets(window, told)
    )


def _targets(window: Window, told: dict[str, list[_Target]]) -> Iterator[_Target]:
    for name in window.of:
        yield from told.get(name, ())


def _is_within(line: Line, target: _Target, window: Window, steps: _Steps) -> bool:
    """Say whether a line stands in the window by the clock, or by place where a clock is missing.

    What came while the others waited already may be what they waited for.
    """
    if line.time is not None and target.line.time is not None:
        began = target.line.time - target.waited
        return began - window.seconds <= line.time <= target.line.time
    if not 0 < target.line.number - line.number <= window.lines:
        return False
    return _may_be_one_printer(line, target.line) and not steps.any_between(line, target.line)


def _may_be_one_printer(line: Line, other: Line) -> bool:
    return (
        line.file == other.file
        and (None in (line.rank, other.rank) or line.rank == other.rank)
        and (None in (line.host, other.host) or line.host == other.host)
    )
