"""Context that stands shortly before something of which it may be the reason counts as a clue.

Cards flap, file systems are slow and processors hang for a while in runs that end well, so such
lines are no cause by themselves. Right before the ranks began to wait in vain they are worth more.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.detect.findings import waited
from app.model import Line, Sighting
from app.rulebook.compiled import Compiled
from app.rulebook.signal import Signal, Window

_MOST_TARGETS = 64  # sightings of one signal that are looked back from


@dataclass(frozen=True, slots=True)
class _Target:
    """Something that may have a reason, and the seconds that passed before it was told."""

    line: Line
    waited: float


def with_windows(sightings: Sequence[Sighting], compiled: Compiled) -> tuple[Sighting, ...]:
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
    return tuple(
        replace(sighting, strength="clue") if _counts(sighting, named, told) else sighting
        for sighting in sightings
    )


def _counts(
    sighting: Sighting, named: Mapping[str, Signal], told: dict[str, list[_Target]]
) -> bool:
    window = named[sighting.signal].window_before
    if window is None or sighting.strength != "context":
        return False
    return any(_is_within(sighting.line, target, window) for target in _targets(window, told))


def _targets(window: Window, told: dict[str, list[_Target]]) -> Iterator[_Target]:
    for name in window.of:
        yield from told.get(name, ())


def _is_within(line: Line, target: _Target, window: Window) -> bool:
    """Say whether a line stands in the window by the clock, or by place where a clock is missing.

    What came while the others waited already may be what they waited for.
    """
    if line.time is not None and target.line.time is not None:
        began = target.line.time - target.waited
        return began - window.seconds <= line.time <= target.line.time
    if line.file != target.line.file:
        return False
    return 0 < target.line.number - line.number <= window.lines
