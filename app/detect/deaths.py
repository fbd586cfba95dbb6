"""Processes that died by a signal with no error of their own.

A launcher's report of exit code -6 or -11 is an echo on a rank that printed an error before. On a
rank that printed none while others complain it is the news itself.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from app.model import Marked, Sighting
from app.rulebook.compiled import Compiled

_NEAR = 8  # lines within which a launcher's table names the rank of an exit


def with_silent_deaths(
    sightings: Sequence[Sighting], exits: Sequence[Marked], compiled: Compiled
) -> tuple[Sighting, ...]:
    """Raise echoes of a crash to clues where the crashed rank had said nothing; name the rank."""
    spoke = {
        rank
        for s in sightings
        if not _is_crash(s, compiled)
        and (rank := s.line.rank if s.strength == "echo" else _rank(s)) is not None
    }
    if not spoke:
        return tuple(sightings)
    return tuple(_heard(s, exits, spoke) if _is_crash(s, compiled) else s for s in sightings)


def _is_crash(sighting: Sighting, compiled: Compiled) -> bool:
    signal = compiled.rulebook.signal_named[sighting.signal]
    return sighting.strength == "echo" and signal.cause == "NativeCrash"


def _heard(crash: Sighting, exits: Sequence[Marked], spoke: Collection[int]) -> Sighting:
    rank = _rank_by_table(crash, exits)
    if rank is None:
        return crash
    facts = {**crash.facts, "rank": str(rank)}
    return replace(crash, strength="echo" if rank in spoke else "clue", facts=facts)


def _rank_by_table(sighting: Sighting, exits: Iterable[Marked]) -> int | None:
    rank = _rank(sighting)
    if rank is not None:
        return rank
    near = [
        mark
        for mark in exits
        if mark.line.file == sighting.line.file
        and abs(mark.line.number - sighting.line.number) <= _NEAR
        and mark.facts.get("rank", "").isdigit()
    ]
    pid = sighting.facts.get("pid")
    same = [mark for mark in near if pid and mark.facts.get("pid") == pid]
    named = same or near
    return int(named[0].facts["rank"]) if named else None


def _rank(sighting: Sighting) -> int | None:
    told = sighting.facts.get("rank", "")
    return int(told) if told.isdigit() else sighting.line.rank
