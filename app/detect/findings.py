"""Group what was sighted into findings: one for each signal that an attempt shows."""

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from app.model import Finding, Line, Sighting, Strength
from app.rulebook.compiled import Compiled

_MOST_SIGHTINGS = 256
_MOST_RANKS = 4096  # past those, the first sighting of each rank, so that one missing rank shows
_STRONGEST: Sequence[Strength] = ("context", "echo", "clue", "proof")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
_SLOT = re.compile(r"\{(\w+)\}")
_UNKNOWN = {
    "host": "the node",
    "gpu": "the GPU",
    "rank": "a rank",
    "peer": "the peer",
    "peer_host": "a host",
}


def group(sightings: Sequence[Sighting], compiled: Compiled) -> tuple[Finding, ...]:
    """Build the findings, earliest first; context is left out, for it is no cause by itself."""
    clock = _Clock(sightings)
    by_signal: dict[str, list[Sighting]] = {}
    for sighting in sorted(sightings, key=lambda sighting: clock.order(sighting.line)):
        if sighting.strength != "context":
            by_signal.setdefault(sighting.signal, []).append(sighting)
    return tuple(_finding(name, own, clock, compiled) for name, own in by_signal.items())


class _Clock:
    """Order among lines of which some bear a time and others, as tracebacks, do not.

    Those without one are taken to be as late as the last line with one before them in their file,
    so that the order within a stretch of a file is that of its lines; but no later than their own
    printer's next words show.
    """

    def __init__(self, sightings: Iterable[Sighting]) -> None:
        self._of_file: dict[int, dict[int, float]] = defaultdict(dict)
        for sighting in sorted(sightings, key=lambda s: s.line.number):
            if sighting.line.time is not None:
                self._of_file[sighting.line.file].setdefault(
                    sighting.line.number, sighting.line.time
                )
        self._numbers = {file: list(times) for file, times in self._of_file.items()}

    def order(self, line: Line) -> tuple[float, int, int]:
        return self.time(line), line.file, line.number

    def time(self, line: Line) -> float:
        if line.time is not None:
            return line.time
        numbers = self._numbers.get(line.file)
        if not numbers:
            return math.inf if line.until is None else line.until
        before = max(bisect_left(numbers, line.number + 1) - 1, 0)
        told = self._of_file[line.file][numbers[before]]
        return told if line.until is None else min(told, line.until)


def _finding(name: str, own: Sequence[Sighting], clock: _Clock, compiled: Compiled) -> Finding:
    signal = compiled.rulebook.signal_named[name]
    strength = max((s.strength for s in own), key=_STRONGEST.index)
    return Finding(
        cause=signal.cause,
        signal=name,
        strength=strength,
        sightings=(*own[:_MOST_SIGHTINGS], *_further_ranks(own)),
        count=len(own),
        onset=_onset(own, clock, signal.lookback),
        summary=fill(signal.says, own[0].facts),
        general=signal.general,
    )


def _further_ranks(own: Sequence[Sighting]) -> Iterable[Sighting]:
    known = {sighting.line.rank for sighting in own[:_MOST_SIGHTINGS]} | {None}
    for sighting in own[_MOST_SIGHTINGS:]:
        if sighting.line.rank not in known and len(known) < _MOST_RANKS:
            known.add(sighting.line.rank)
            yield sighting


def _onset(own: Iterable[Sighting], clock: _Clock, lookback: float) -> float | None:
    """When it began: a timeout's line less the wait that it names or stands for."""
    began = min(clock.time(s.line) - waited(s.facts, lookback) for s in own)
    return began if math.isfinite(began) else None


def waited(facts: Mapping[str, str], lookback: float = 0.0) -> float:
    """Seconds that passed in waiting before the line was printed, `lookback` if it names none."""
    for name, unit in (("timeout_ms", 0.001), ("timeout_s", 1.0)):
        text = facts.get(name, "").replace(",", "")
        if _NUMBER.fullmatch(text):
            return float(text) * unit
    return lookback


def fill(text: str, facts: Mapping[str, str]) -> str:
    """Fill `{facts}` in; what is not known becomes words that still read as a sentence."""
    return _SLOT.sub(lambda slot: facts.get(slot[1]) or _UNKNOWN.get(slot[1], slot[1]), text)
