"""Lay the lines of an attempt out in time, and measure the silence at its end.

Heartbeats, monitors and pollers go on whatever the training does. Lines that are alike but for
their numbers and come again and again are such beats: they prove that the clock runs, not that
anything moves. A count that rises (`graph 12/80 done`) is no beat.
"""

import re
from bisect import bisect_right
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

from app.detect.alike import in_kind
from app.detect.inner_clocks import inner_clocks
from app.model import Line, Point

BEATS = 3
_LAST_WORDS = 8  # lines of a launcher, a supervisor or a clean-up that end a silence
_DAY, _QUARTER = 86_400, 21_600
_FIRST_DATE = 1e8
_HALF_YEAR = 180 * _DAY
# 02:06:00   DEBUG wrote shard 12   [10:00:44.341] INFO step 5
_CLOCK = re.compile(r"\W{0,2}(\d\d):(\d\d):(\d\d)(?![:\d])")
_CLOCK_BEHIND = re.compile(r"(?<![\d:.-])(\d\d):(\d\d):(\d\d)(?:[.,]\d+)?\W{0,4}$")
_COUNT = re.compile(r"(?<![\d.:/])(\d+) ?(?:/|of) ?(\d+)(?![\d.:/])")
_ALIKE = 120  # characters that two beats share


@dataclass(frozen=True, slots=True)
class Clocked:
    """A line and its time; lines without a date count from the day on which their file began."""

    time: float
    line: Line


@dataclass(frozen=True, slots=True)
class Silence:
    """A stretch in which nothing moved: the last sign before it, the end, and who beat on."""

    since: float
    seconds: float
    last_sign: Line | None
    beats: int


def clocked(lines: Sequence[Line]) -> list[Clocked]:
    """Give the lines that have a time, in order of time; days are counted where dates lack."""
    found = _dated(lines)
    dated = {c.line.file for c in found}
    found += [Clocked(*read) for read in inner_clocks(lines, times_of(found))]
    days: dict[int, tuple[float, int]] = {}
    for line in lines:
        read = None if line.file in dated else _time_of_day(line)
        if read is None:
            continue
        seconds = int(read[1]) * 3600 + int(read[2]) * 60 + int(read[3])
        last, day = days.get(line.file, (0.0, 0))
        if seconds + _QUARTER < last:
            day += 1
        days[line.file] = seconds, day
        found.append(Clocked(day * _DAY + seconds, line))
    return sorted(found, key=lambda c: (c.time, c.line.file, c.line.number))


def _time_of_day(line: Line) -> re.Match[str] | None:
    """Read a clock at the beginning of a line, or behind a collector's words."""
    head = line.raw[: len(line.raw) - len(line.text)]
    return _CLOCK.match(line.raw) or _CLOCK_BEHIND.search(head)


def _dated(lines: Sequence[Line]) -> list[Clocked]:
    """Take the lines with a date; one that is half a year off the rest had its year guessed."""
    own: dict[int, list[Clocked]] = {}
    for line in lines:
        if line.time is not None:
            own.setdefault(line.file, []).append(Clocked(line.time, line))
    middles = {file: median_low(c.time for c in found) for file, found in own.items()}
    return [
        c for file, found in own.items() for c in found if abs(c.time - middles[file]) < _HALF_YEAR
    ]


def is_dated(time: float) -> bool:
    """Say whether a time is one of the calendar, not a count from a file's first day."""
    return time > _FIRST_DATE


def times_of(found: Sequence[Clocked]) -> Mapping[tuple[int, int], float]:
    """Give the time of each place that has one."""
    return {(c.line.file, c.line.number): c.time for c in found}


def with_carried(
    times: Mapping[tuple[int, int], float], points: Sequence[Point], found: Sequence[Clocked]
) -> Mapping[tuple[int, int], float]:
    """Give readings without a clock the time of the last line above them in their file."""
    clocks: dict[int, list[tuple[int, float]]] = {}
    for clocked_line in found:
        own = clocks.setdefault(clocked_line.line.file, [])
        own.append((clocked_line.line.number, clocked_line.time))
    for own in clocks.values():
        own.sort()
    carried = dict(times)
    for point in points:
        above = clocks.get(point.file, [])
        place = bisect_right(above, (point.number, float("inf")))
        if place:
            carried.setdefault((point.file, point.number), above[place - 1][1])
    return carried


def last_silence(
    since: float,
    after: Sequence[Clocked],
    killed: float | None,
    watchers: Container[tuple[int, int]] = (),
) -> Silence:
    """Measure from the last sign of anything that moved to the end; beats are no signs.

    Nor is what `watchers` say of the silence. The end is when the job was killed, else the last
    thing that was printed.
    """
    beats = _beats([c.line for c in after])
    beats |= {id(c.line) for c in after if _place(c.line) in watchers}
    until = killed if killed is not None else after[-1].time if after else since
    signs = [c for c in after if id(c.line) not in beats and (killed is None or c.time < killed)]
    begin = signs[-1].time if signs else since
    return Silence(
        since=begin,
        seconds=until - begin,
        last_sign=signs[-1].line if signs else None,
        beats=sum(begin < c.time <= until for c in after if id(c.line) in beats),
    )


def silence_before_last_words(
    since: float,
    after: Sequence[Clocked],
    watchers: Container[tuple[int, int]] = (),
    first_words: Container[str] = (),
) -> Silence | None:
    """Measure the longest silence that only some last words follow: those of who ended it.

    Where the first words of the program end it, the program was started anew: nothing ran between.
    """
    beats = _beats([c.line for c in after])
    signs = [c for c in after if id(c.line) not in beats and _place(c.line) not in watchers]
    words = signs[-_LAST_WORDS:]
    before = signs[: len(signs) - len(words)]
    begins = [(before[-1].time, before[-1].line) if before else (since, None)]
    begins += [(c.time, c.line) for c in words]
    gaps = [
        (word.time - begin, begin, sign)
        for (begin, sign), word in zip(begins, words, strict=False)
        if in_words(word.line) not in first_words
    ]
    if not gaps:
        return None
    seconds, begin, sign = max(gaps, key=lambda gap: gap[0])
    beaten = sum(begin < c.time <= begin + seconds for c in after if id(c.line) in beats)
    return Silence(begin, seconds, sign, beaten)


def _place(line: Line) -> tuple[int, int]:
    return line.file, line.number


def in_words(line: Line) -> str:
    """Give what lines have in common that differ in their numbers alone."""
    return in_kind(line)[:_ALIKE]


def _beats(lines: Sequence[Line]) -> set[int]:
    alike: dict[str, list[Line]] = {}
    for line in lines:
        alike.setdefault(in_words(line), []).append(line)
    return {
        id(line)
        for own in alike.values()
        if len(own) >= BEATS and not _counts_up(own)
        for line in own
    }


def _counts_up(lines: Sequence[Line]) -> bool:
    counts = [count for line in lines if (count := _COUNT.search(line.text))]
    if len(counts) < len(lines):
        return False
    done = [int(count[1]) for count in counts]
    return done == sorted(done) and done[-1] > done[0]
