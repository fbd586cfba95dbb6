"""Read the clocks of beats that stand amid their words, where no reader of prefixes looks.

    mon gwn01 16:57:00 util 100 100 | W 79 74          heartbeat ok at 2026-03-04 16:57:00

A clock amid words may be anything: a duration, the date of a checkpoint. So only lines are read
that come again and again in the same words, whose clocks never go back, and begin when the lines
beside them were printed.
"""

import re
from calendar import timegm
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from app.detect.alike import in_kind
from app.model import Line

_FEWEST = 3
_NEAR = 900.0  # seconds from what was printed before
_DAY = 86_400.0
_LONGEST = 400  # characters
_DATED = re.compile(
    r"(?<![\d.-])(\d{4})[-/](0[1-9]|1[0-2])[-/]([0-3]\d)[T _](\d\d):(\d\d):(\d\d)(?![\d:])",
    re.ASCII,
)
_OF_DAY = re.compile(r"(?<![\d:.+-])(\d\d):(\d\d):(\d\d)(?![\d:])", re.ASCII)


def inner_clocks(
    lines: Sequence[Line], dated: Mapping[tuple[int, int], float]
) -> Iterator[tuple[float, Line]]:
    """Give lines whose clock stands amid their words, of files with other lines that are `dated`.

    Each comes with its time.
    """
    alike: dict[tuple[int, str], list[tuple[float | None, Line]]] = defaultdict(list)
    last: dict[int, float] = {}
    for line in lines:
        time = dated.get((line.file, line.number))
        if time is not None:
            last[line.file] = time
        elif line.file in last and ":" in line.text and len(line.text) <= _LONGEST:
            kind = in_kind(line)
            if "#:#:#" in kind:
                alike[line.file, kind].append((last[line.file], line))
    for own in alike.values():
        if len(own) >= _FEWEST:
            yield from _read(own)


def _read(own: Sequence[tuple[float | None, Line]]) -> Sequence[tuple[float, Line]]:
    told: list[tuple[float, Line]] = []
    near = own[0][0] or 0.0
    for _, line in own:
        time = _time(line.text, told[-1][0] if told else near)
        if time is None:
            return ()
        told.append((time, line))
    goes_back = any(later < sooner for (sooner, _), (later, _) in pairwise(told))
    moves = told[-1][0] > told[0][0]
    return told if moves and not goes_back and abs(told[0][0] - near) <= _NEAR else ()


def _time(text: str, near: float) -> float | None:
    """Read the first clock of a line; without a date it is of the day that lies nearest."""
    if found := _DATED.search(text):
        year, month, day, *clock = (int(part) for part in found.groups())
        return float(timegm((year, month, day, *clock, 0, 0, 0)))
    if not (found := _OF_DAY.search(text)):
        return None
    hours, minutes, seconds = (int(part) for part in found.groups())
    time = near - near % _DAY + hours * 3600 + minutes * 60 + seconds
    return min((time - _DAY, time, time + _DAY), key=lambda day: abs(day - near))
