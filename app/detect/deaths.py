"""Processes that died by a signal with no error of their own.

A launcher's report of exit code -6 or -11 is an echo on a rank that printed an error before. On a
rank that printed none while others complain it is the news itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.model import Marked, Sighting
from app.rulebook.compiled import Compiled

_NEAR = 8  # lines within which a launcher's table names the rank of an exit


def with_silent_deaths(
    sightings: Sequence[Sighting], exits: Sequence[Marked], compiled: Compiled
) -> tuple[Sighting, ...]:
    """Raise echoes of a crash to clues where the crashed rank had said nothing."""
    spoke = {rank for s in sightings if s.strength != "echo" and (rank := _rank(s)) is not None}
    if not spoke:
        return tuple(sightings)
    return tuple(
        replace(s, strength="clue")
        if s.strength == "echo"
        and compiled.rulebook.signal_named[s.signal].cause == "NativeCrash"
        and (rank := _rank_by_table(s, exits)) is not None
        and rank not in spoke
        else s
        for s in sightings
    )


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
