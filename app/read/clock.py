"""Read the clocks that log lines carry, and remember what the shorter ones leave out.

Loggers agree on nothing: a stamp may lack its zone, its year (`E304 04:22:11`) or its whole date
(`[10:00:44.341]`). What is missing comes from the last complete stamp of the same file, a year also
from the first; without one the stamp is still a stamp, and its time is unknown. So it is where the
year is one in which no job ran: a field that nobody filled in holds the first or last date of its
type. A stamp without a zone is taken as UTC.
"""

import re
from time import gmtime
from typing import NamedTuple

from app.read.spelled_times import (
    DAY,
    DAY_NAMES,
    MONTHS,
    day_of,
    first_second,
    in_order,
    offset,
    seconds_of_day,
)

_HALF_YEAR = 183 * DAY
# 0001-01-01T00:00:00Z of Go and .NET, 1970-01-01 of Unix, 1980-01-01 of FAT, 9999-12-31 of .NET
_FIRST_YEAR, _LAST_YEAR = 1990, 2200


_OPEN = r"([\[(])?"
# 03:04:05,678   03:13:48 PM   11:29:20.358.410
_TIME = r"(\d\d:\d\d:\d\d)(?:[.,](\d{1,12})(?:\.\d{3})?)?(?: ?([AP])M)?"
# what ends a stamp, and the one separator that belongs to it:  "] "  ": "  " - "  " | "
_CLOSE = r"(?![\w/]|:\d)([\])])?:?(?:[ \t]*(?:\||->?|>>)(?=[ \t]|$))?[ \t]?"

# [2026-01-02 03:04:05,678]   2026-01-02T03:04:05+00:00   2024-10-02,06:00:26 |
# 2026-05-01-11:29:20.358.410   2023-Sep-20 21:10:31.0400
_ISO = re.compile(
    _OPEN
    + rf"(\d{{4}}[-/.](?:\d\d|{'|'.join(MONTHS)})[-/.]\d\d)[T ,_-]"
    + _TIME
    + r"(Z| ?UTC| ?[+-]\d\d:?\d\d)?"
    + _CLOSE,
    re.ASCII,
)
# 07/27/2024 16:02:40   [06/14/24 09:00:11]   01.02.2025 21:00:00   24-05-19 13:43:04 -
# 05/11/2026 | 08:12:44 |
_SHORT_DATE = re.compile(
    _OPEN + r"(\d\d)([-/.])(\d\d)[-/.](\d{4}|\d\d)(?:[ T]| \| )" + _TIME + _CLOSE, re.ASCII
)
# [09-01 00:10:07]   12/09 06:40:00 - mmengine
_MONTH_DAY = re.compile(_OPEN + r"(\d\d)[-/](\d\d) " + _TIME + _CLOSE, re.ASCII)
# [10:00:44.341227]   18:19:08.114 W0205
_TIME_ONLY = re.compile(_OPEN + _TIME + r"(?=[\]) \t|:]|$)" + _CLOSE, re.ASCII)
# Mar  3 04:12:09 node-17   [Tue Mar  3 04:12:09 2026]   Fri Mar 28 16:33:32 UTC 2025
_NAMED_DAY = re.compile(
    _OPEN
    + r"(?:[A-Z][a-z]{2},? )?([A-Z][a-z]{2}) {1,2}(\d{1,2}) "
    + _TIME
    + r"(?: [A-Z]{3,4}(?= \d))?(?: (\d{4})\b)?"
    + _CLOSE,
    re.ASCII,
)
# I0318 04:21:37.248431 138304841739136 file.py:226]   [E304 04:22:11.123 ProcessGroupNCCL.cpp:616]
_GLOG = re.compile(r"\[?[IWEFVDC](\d{1,2})(\d\d) " + _TIME, re.ASCII)
# 1714990760.344   [1714607874.947001]
_EPOCH = re.compile(_OPEN + r"(1[3-9]\d{8}\.\d{1,9})(?![\w.])([\])])?:?[ \t]?", re.ASCII)
# [12345.678901]  seconds since the machine started
_UPTIME = re.compile(r"\[ {0,7}\d{1,8}\.\d{6}\](?: |$)", re.ASCII)


class Stamp(NamedTuple):
    """A stamp that was read; `end` is where the text after it begins.

    `closed` is false where its bracket goes on (`[2024-04-19 12:01:09,757 E 97 101]`). `host_next`
    says that it is a style of syslog, which names the host behind it.
    """

    end: int
    time: float | None
    closed: bool = True
    host_next: bool = False


class Clock:
    """Turns the stamps of one file, in order, into seconds since the epoch."""

    def __init__(self, default_year: int | None = None, near: float | None = None) -> None:
        """Start a file; until a stamp names a year, `near` tells it, a time of the log, or else
        the default does.
        """
        self._default_year = default_year
        self._near = near
        self._last: float | None = None
        self._days: dict[tuple[int, int], int] = {}

    def read(self, raw: str, at: int) -> Stamp | None:
        """Read the stamp that begins at `at`, if one does."""
        start = at + 1 if raw.startswith(("[", "("), at) else at
        mark = raw[start + 4 : start + 5]
        if mark == "-" or mark == "/" or mark == ".":
            return self._iso(raw, at)
        two = raw[start : start + 2]
        if not two.isdecimal():
            if raw[start : start + 3] in DAY_NAMES:
                return self._named_day(raw, at)
            return _uptime(raw, at)
        mark = raw[start + 2 : start + 3]
        if mark == ":":
            return self._time_only(raw, at)
        if mark == "-" or mark == "/" or mark == ".":
            if raw[start + 5 : start + 6] == " ":
                return self._month_day(raw, at)
            return self._short_date(raw, at) or _uptime(raw, at)
        return self._epoch(raw, at) or _uptime(raw, at)

    def glog(self, raw: str, at: int) -> Stamp | None:
        """Read the head of a glog line, up to its time; month and day stand before it, no year."""
        met = _GLOG.match(raw, at)
        if met is None:
            return None
        month, day, *clock = met.groups()
        seconds = seconds_of_day(*clock)
        if seconds is None:
            return None
        return Stamp(met.end(), self._without_year(int(month), int(day), seconds), closed=False)

    def seen(self, time: float) -> float:
        """Remember a time that the line gave in seconds since the epoch."""
        self._last = time
        return time

    def _iso(self, raw: str, at: int) -> Stamp | None:
        met = _ISO.match(raw, at)
        if met is None:
            return None
        opened, day, clock, part, half, zone, closed = met.groups()
        seconds = seconds_of_day(clock, part, half)
        midnight = day_of(day)
        if seconds is None or midnight is None:
            return None
        time: float | None = None
        if _FIRST_YEAR <= int(day[:4]) <= _LAST_YEAR:
            time = self.seen(midnight + seconds - (offset(zone) if zone else 0))
        return Stamp(met.end(), time, not opened or bool(closed), zone is not None)

    def _short_date(self, raw: str, at: int) -> Stamp | None:
        met = _SHORT_DATE.match(raw, at)
        if met is None:
            return None
        opened, first, mark, second, third, *clock, closed = met.groups()
        year, month, day = in_order(int(first), mark, int(second), third)
        seconds = seconds_of_day(*clock)
        midnight = first_second(year, month, day)
        if seconds is None or midnight is None:
            return None
        known = _FIRST_YEAR <= year <= _LAST_YEAR
        time = self.seen(midnight + seconds) if known else None
        return Stamp(met.end(), time, not opened or bool(closed))

    def _month_day(self, raw: str, at: int) -> Stamp | None:
        met = _MONTH_DAY.match(raw, at)
        if met is None:
            return None
        opened, month, day, *clock, closed = met.groups()
        seconds = seconds_of_day(*clock)
        if seconds is None or not 1 <= int(month) <= 12:
            return None
        time = self._without_year(int(month), int(day), seconds)
        return Stamp(met.end(), time, not opened or bool(closed))

    def _named_day(self, raw: str, at: int) -> Stamp | None:
        met = _NAMED_DAY.match(raw, at)
        if met is None:
            return None
        opened, name, day, *clock, year, closed = met.groups()
        month = MONTHS.get(name)
        seconds = seconds_of_day(*clock)
        if month is None or seconds is None:
            return None
        time: float | None
        if year:
            midnight = first_second(int(year), month, int(day))
            time = None if midnight is None else self.seen(midnight + seconds)
        else:
            time = self._without_year(month, int(day), seconds)
        return Stamp(met.end(), time, not opened or bool(closed), host_next=not opened)

    def _time_only(self, raw: str, at: int) -> Stamp | None:
        met = _TIME_ONLY.match(raw, at)
        if met is None:
            return None
        opened, *clock, closed = met.groups()
        seconds = seconds_of_day(*clock)
        if seconds is None:
            return None
        return Stamp(met.end(), self._without_date(seconds), not opened or bool(closed))

    def _epoch(self, raw: str, at: int) -> Stamp | None:
        met = _EPOCH.match(raw, at)
        if met is None:
            return None
        opened, number, closed = met.groups()
        return Stamp(met.end(), self.seen(float(number)), not opened or bool(closed))

    def _without_year(self, month: int, day: int, seconds: float) -> float | None:
        """Take the year that brings the stamp nearest to the last one: logs run over New Year."""
        last = self._last
        midnight = self._days.get((month, day))
        if midnight is None or last is None or abs(midnight - last) > _HALF_YEAR:
            midnight = self._nearest(month, day)
            if midnight is None:
                return None
            self._days[month, day] = midnight
        return self.seen(midnight + seconds)

    def _nearest(self, month: int, day: int) -> int | None:
        last = self._near if self._last is None else self._last
        if last is None:
            return first_second(self._default_year, month, day) if self._default_year else None
        year = gmtime(last).tm_year
        days = [first_second(near, month, day) for near in (year - 1, year, year + 1)]
        return min(
            (midnight for midnight in days if midnight is not None),
            key=lambda midnight: abs(midnight - last),
            default=None,
        )

    def _without_date(self, seconds: float) -> float | None:
        """Take the day that brings the stamp nearest to the last one: logs run over midnight."""
        last = self._last
        if last is None:
            return None
        time = last - last % DAY + seconds
        if time < last - DAY / 2:
            time += DAY
        elif time > last + DAY / 2:
            time -= DAY
        return self.seen(time)


def _uptime(raw: str, at: int) -> Stamp | None:
    met = _UPTIME.match(raw, at)
    return met and Stamp(met.end(), None, host_next=True)
