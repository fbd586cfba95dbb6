"""Exceptions that were caught and logged: which of them ended their process all the same?

A traceback below a log record was caught; as a rule the program goes on, and what ends it later is
something else. But `except Exception: log.exception(…)` is also the last thing that a trainer does
before it gives up. What follows decides: training had been going on and stopped right there, a
process is reported to have ended by itself, and nothing that it did not catch came of its printer.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.model import Ending, Line, Marked, Point, Sighting
from app.rulebook.compiled import Compiled

LOGGED = "logged"  # the doubt of a sighting that was weakened because it was caught
_LAST_OWN_CODE = 127  # of a process; above it stand the signals that others sent


def with_last_words(
    sightings: Sequence[Sighting],
    points: Sequence[Point],
    exits: Sequence[Marked],
    end: Ending,
    compiled: Compiled,
) -> tuple[Sighting, ...]:
    """Believe what was logged last as if nobody had caught it, where it ended its process."""
    if end.finished is not None:
        return tuple(sightings)
    proven = [s.line for s in sightings if s.strength == "proof"]
    return tuple(
        replace(s, strength=compiled.rulebook.signal_named[s.signal].strength, doubt="")
        if s.doubt == LOGGED
        and _stopped_at(s.line, points)
        and any(_ended_itself(mark, s.line) for mark in exits)
        and not any(_same_printer(line, s.line) for line in proven)
        else s
        for s in sightings
    )


def _stopped_at(line: Line, points: Sequence[Point]) -> bool:
    own = [
        point.number
        for point in points
        if point.file == line.file and (line.rank is None or point.rank in (None, line.rank))
    ]
    return bool(own) and max(own) < line.number


def _ended_itself(mark: Marked, line: Line) -> bool:
    code = mark.facts.get("code", "")
    if not code.isdecimal() or not 1 <= int(code) <= _LAST_OWN_CODE:
        return False
    rank = mark.facts.get("rank", "")
    return line.rank is None or not rank or rank == str(line.rank)


def _same_printer(line: Line, other: Line) -> bool:
    return (line.file, line.stream, line.rank) == (other.file, other.stream, other.rank)
