"""Group what was sighted into findings: one for each signal that an attempt shows."""

import re
from collections.abc import Mapping, Sequence

from app.model import Finding, Line, Point, Sighting, Strength
from app.rulebook.compiled import Compiled

_MOST_SIGHTINGS = 256
_STRONGEST: Sequence[Strength] = ("context", "echo", "clue", "proof")
_SLOT = re.compile(r"\{(\w+)\}")
_UNKNOWN = {"host": "the node", "gpu": "the GPU", "rank": "a rank", "peer": "the peer"}
_GONE_ON = 5  # different steps after an error that show it did no harm


def group(sightings: Sequence[Sighting], compiled: Compiled) -> tuple[Finding, ...]:
    """Build the findings, earliest first; context is left out, for it is no cause by itself."""
    by_signal: dict[str, list[Sighting]] = {}
    for sighting in sightings:
        if sighting.strength != "context":
            by_signal.setdefault(sighting.signal, []).append(sighting)
    found = [_finding(name, own, compiled) for name, own in by_signal.items()]
    return tuple(sorted(found, key=lambda finding: order(finding.first)))


def order(line: Line) -> tuple[float, int, int]:
    """Sort by clock where the line has one, else by place."""
    return (line.time if line.time is not None else float("inf"), line.file, line.number)


def without_recovered(
    sightings: Sequence[Sighting], points: Sequence[Point]
) -> tuple[tuple[Sighting, ...], int]:
    """Drop what training survived: clues after which the same printer made many more steps.

    Returns what is left, and how many were dropped.
    """
    steps = _Steps(points)
    left = tuple(s for s in sightings if s.strength != "clue" or not steps.go_on_after(s.line))
    return left, len(sightings) - len(left)


class _Steps:
    def __init__(self, points: Sequence[Point]) -> None:
        self._of_file: dict[int, list[Point]] = {}
        for point in points:
            if point.step is not None:
                self._of_file.setdefault(point.file, []).append(point)

    def go_on_after(self, line: Line) -> bool:
        later = {
            point.step
            for point in self._of_file.get(line.file, ())
            if point.number > line.number
            and (point.rank is None or line.rank is None or point.rank == line.rank)
        }
        return len(later) >= _GONE_ON


def _finding(name: str, own: list[Sighting], compiled: Compiled) -> Finding:
    signal = compiled.rulebook.signal_named[name]
    own.sort(key=lambda sighting: order(sighting.line))
    strength = max((s.strength for s in own), key=_STRONGEST.index)
    return Finding(
        cause=signal.cause,
        signal=name,
        strength=strength,
        sightings=tuple(own[:_MOST_SIGHTINGS]),
        count=len(own),
        onset=_onset(own),
        summary=fill(signal.says, own[0].facts),
    )


def _onset(own: Sequence[Sighting]) -> float | None:
    """When it began: a timeout's line less the wait that it names."""
    times = [
        sighting.line.time - waited(sighting.facts)
        for sighting in own
        if sighting.line.time is not None
    ]
    return min(times) if times else None


def waited(facts: Mapping[str, str]) -> float:
    """Seconds that passed in waiting before the line was printed."""
    for name, unit in (("timeout_ms", 0.001), ("timeout_s", 1.0)):
        text = facts.get(name, "").replace(",", "")
        try:
            return float(text) * unit
        except ValueError:
            continue
    return 0.0


def fill(text: str, facts: Mapping[str, str]) -> str:
    """Fill `{facts}` in; what is not known becomes words that still read as a sentence."""
    return _SLOT.sub(lambda slot: facts.get(slot[1]) or _UNKNOWN.get(slot[1], slot[1]), text)
