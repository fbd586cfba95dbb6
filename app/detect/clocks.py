"""Bound the time of lines that bear none, as tracebacks, by the last words of their printer."""

from collections.abc import Sequence
from dataclasses import replace

from app.model import Line


def bounded(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Tell lines without a time when they were printed at the latest.

    A launcher may show the output of one host behind that of all others, though it is older. No
    line of a labelled printer is later than all that follow of it; a single one of these may be
    older, for it may have waited in a buffer.
    """
    latest: dict[tuple[int, str], float] = {}
    found: list[Line] = []
    for line in reversed(lines):
        key = line.file, line.host or line.stream
        if line.time is not None:
            latest[key] = max(line.time, latest.get(key, line.time))
        elif key[1] and key in latest:
            line = replace(line, until=latest[key])
        found.append(line)
    return tuple(reversed(found))
