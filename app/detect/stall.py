"""Find training that stood still: the next step was long overdue, and no error says why.

What is long is told by the log itself. NVIDIA's resiliency extension takes five times the longest
interval that it saw as the timeout of a rank, and an hour where it saw none (`safety_factor`,
`initial_rank_heartbeat_timeout`); so do we, and never less than twenty usual intervals, since the
first evaluation or checkpoint of a run is longer than anything before it. Silence that an error
ends is that error's. Silence that a person or a time limit ends is what they put an end to.
"""

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.detect.frozen import Frozen, frozen
from app.detect.last_step import first_of_the_last_step, is_at_its_end, last_to_step, time_of
from app.detect.pace import Pace, pace_among, slowest_pace
from app.detect.silence import (
    Clocked,
    Silence,
    clocked,
    in_words,
    is_dated,
    last_silence,
    silence_before_last_words,
    times_of,
)
from app.detect.tracks import Track
from app.detect.waited import last_said, waits_for_a_first_step
from app.model import Finding, Line, Marked, Point, Strength

_LONGEST_TIMES = 5.0
_USUAL_TIMES = 20.0
_LEAST_SECONDS = 60.0
_LONG_WORK_SECONDS = 3600.0
_BEATS_WITHOUT_STEPS = 5
_GOES_ON_IN_MOST = 2  # so many printers go on for each one that fell silent
KILLS = ("Cancelled", "TimeLimitExceeded", "Preempted", "Unknown")
_HARMLESS = (*KILLS, "Stalled", "LossSpike", "NonFiniteLoss")
# Evaluating on 102400 samples   saving checkpoint at iteration 5000   compiling graph 3
_LONG_WORK = re.compile(
    r"\b(?:sav|evaluat|validat|compil|download|upload|tokeniz|preprocess|load|build|generat|"
    r"initializ|captur|export|convert|merg|warm|resum|restor|shuffl|index)ing\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Stall:
    """Where training stopped, for how long nothing moved, and who fell silent first."""

    last_step: Point | None
    last_sign: Line
    silence: Silence
    quiet: tuple[Line, ...]


def stall(
    tracks: Sequence[Track],
    lines: Sequence[Line],
    found: Sequence[Finding],
    marks: Sequence[Marked],
    *,
    trained_before: bool,
) -> Stall | None:
    """Say whether and where training stood still.

    `trained_before` says that an earlier attempt of the same log printed steps, so that their
    absence in this one means something.
    """
    stands = frozen(tracks)
    if stands and not _failed_after(stands.since, found, ("proof", "clue")):
        return _of_a_bar(stands)
    timeline = clocked(lines)
    if len(timeline) < 2:
        return None
    times = times_of(timeline)
    track = last_to_step(tracks, times)
    if track is None and not (trained_before or _never_began(timeline, found)):
        return None
    last = first_of_the_last_step(track) if track else None
    at_end = last is not None and is_at_its_end(last)
    if last and (_failed_after(last, found) or (at_end and not last_said(last, lines, _LONG_WORK))):
        return None
    known = _known_pace(track, tracks, times, timeline) if track and not at_end else None
    if track and known is None and not at_end:
        return None
    silence = _silence(last, timeline, times, _places_of_ends(found, marks), _watchers(found))
    if silence is None or not _is_overdue(silence, known):
        if last is None or _failed_after(last, found, ("proof", "clue")):
            return None
        first = _first_words(tracks, lines)
        silence = _before_last_words(last, timeline, times, _watchers(found), first)
        if silence is None or not _is_overdue(silence, known):
            return None
    sign = silence.last_sign or timeline[0].line
    return Stall(last, sign, silence, _fell_silent(timeline, silence))


def _of_a_bar(stands: Frozen) -> Stall:
    last = stands.since
    sign = Line(last.file, last.number, raw=last.text, text=last.text, time=last.time)
    return Stall(last, sign, Silence(last.time or 0.0, stands.seconds, None, 0), ())


def _known_pace(
    track: Track,
    tracks: Sequence[Track],
    times: Mapping[tuple[int, int], float],
    timeline: Sequence[Clocked],
) -> Pace | None:
    """Measure a series, or another one of its file that came to the same step in more readings.

    Else bound the pace: less than an hour does not count for long.
    """
    beside = [
        other
        for other in tracks
        if other.last.file == track.last.file and other.last.step == track.last.step is not None
    ]
    alike = sorted(beside, key=lambda other: -len(other.points))
    told = (pace_among(one, times, timeline) for one in (track, *alike))
    at_least = _LONG_WORK_SECONDS / _LONGEST_TIMES
    known = next((found for found in told if found), None)
    return known or slowest_pace(track, timeline, at_least)


def _never_began(timeline: Sequence[Clocked], found: Sequence[Finding]) -> bool:
    """Say whether a heartbeat tells of a first step that never came, and nothing failed."""
    failed = any(f.strength in ("proof", "clue") and f.cause not in _HARMLESS for f in found)
    return not failed and waits_for_a_first_step(timeline)


def _failed_after(
    last: Point, found: Sequence[Finding], strengths: Container[Strength] = ("proof",)
) -> bool:
    """Say whether an error is proven that shows after the last step."""
    return any(
        finding.strength in strengths
        and finding.cause not in _HARMLESS
        and any(_is_after(sighting.line, last) for sighting in finding.sightings)
        for finding in found
    )


def _is_after(line: Line, point: Point) -> bool:
    if line.file == point.file:
        return line.number > point.number
    return line.time is None or point.time is None or line.time >= point.time


def _silence(
    last: Point | None,
    timeline: Sequence[Clocked],
    times: Mapping[tuple[int, int], float],
    ends: Collection[tuple[int, int]],
    watchers: Collection[tuple[int, int]],
) -> Silence | None:
    since = time_of(last, times) if last else timeline[0].time
    if last and since is None:
        # The step has no clock: what comes next in its file has one, and is no earlier.
        behind = [c for c in timeline if c.line.file == last.file and c.line.number > last.number]
        since = behind[0].time if behind and _place(behind[0].line) not in ends else None
    if since is None:
        return None
    since = max(since, _latest_before(last, timeline)) if last else since
    after = [c for c in timeline if c.time > since and is_dated(c.time) == is_dated(since)]
    ended = min((c.time for c in after if _place(c.line) in ends), default=None)
    if ended is not None or last is None:
        return last_silence(since, after, ended, watchers)
    by_then = _ended_by(last, after, ends)
    if by_then is None:
        return last_silence(since, after, None, watchers)
    silence = last_silence(since, after, by_then, watchers)
    return silence if silence.seconds >= _LONG_WORK_SECONDS else None


def _before_last_words(
    last: Point,
    timeline: Sequence[Clocked],
    times: Mapping[tuple[int, int], float],
    watchers: Collection[tuple[int, int]],
    first: Collection[str],
) -> Silence | None:
    """Take hours of silence for a stall though somebody spoke at the very end."""
    since = time_of(last, times)
    if since is None:
        return None
    since = max(since, _latest_before(last, timeline))
    after = [c for c in timeline if c.time > since and is_dated(c.time) == is_dated(since)]
    silence = silence_before_last_words(since, after, watchers, first)
    return silence if silence and silence.seconds >= _LONG_WORK_SECONDS else None


def _first_words(tracks: Sequence[Track], lines: Sequence[Line]) -> set[str]:
    """Give what was said in each file before its first step only, not while steps were made."""
    made: dict[int, list[int]] = {}
    for track in tracks:
        for point in (track.points[0], track.last):
            made.setdefault(point.file, []).append(point.number)
    first: set[str] = set()
    later: set[str] = set()
    for line in lines:
        own = made.get(line.file, (0,))
        if line.number < min(own):
            first.add(in_words(line))
        elif line.number <= max(own):
            later.add(in_words(line))
    return first - later


def _ended_by(
    last: Point, after: Sequence[Clocked], ends: Iterable[tuple[int, int]]
) -> float | None:
    """Give the first clock behind an end that has none itself, as a traceback of Ctrl-C has none.

    When it came before that, is not known, so that only a very long silence counts.
    """
    told = [number for file, number in ends if file == last.file and number > last.number]
    if not told:
        return None
    behind = [c.time for c in after if c.line.file == last.file and c.line.number > min(told)]
    return min(behind, default=None)


def _latest_before(last: Point, timeline: Sequence[Clocked]) -> float:
    """Give the latest time that stands above the last step: clocks of one file may disagree."""
    above = (c.time for c in timeline if c.line.file == last.file and c.line.number < last.number)
    return max(above, default=float("-inf"))


def _places_of_ends(found: Sequence[Finding], marks: Sequence[Marked]) -> set[tuple[int, int]]:
    """Where a kill or a process's end is told: nothing moves from there on."""
    kills = (
        sighting.line
        for finding in found
        if finding.cause in KILLS
        for sighting in finding.sightings
    )
    exits = (mark.line for mark in marks if mark.kind in ("exit", "failed"))
    return {_place(line) for line in (*kills, *exits)}


def _watchers(found: Sequence[Finding]) -> set[tuple[int, int]]:
    """Where a monitor says that nothing moves."""
    return {_place(s.line) for f in found if f.cause == "Stalled" for s in f.sightings}


def _place(line: Line) -> tuple[int, int]:
    return line.file, line.number


def _is_overdue(silence: Silence, known: Pace | None) -> bool:
    if known is None:
        return silence.seconds >= _LONG_WORK_SECONDS and silence.beats >= _BEATS_WITHOUT_STEPS
    due = max(_LEAST_SECONDS, _LONGEST_TIMES * known.longest, _USUAL_TIMES * known.usual)
    sign = silence.last_sign
    if sign is not None and _LONG_WORK.search(sign.text):
        due = max(due, _LONG_WORK_SECONDS)
    return silence.seconds >= due


def _fell_silent(timeline: Sequence[Clocked], silence: Silence) -> tuple[Line, ...]:
    """Give the last lines of the few printers that ended early while most went on."""
    last: dict[tuple[int, int | None], Clocked] = {}
    several = len({c.line.file for c in timeline}) > 1
    for entry in timeline:
        if several or entry.line.rank is not None:
            last[entry.line.file, entry.line.rank] = entry
    middle = silence.since + silence.seconds / 2
    quiet = [c for c in last.values() if c.time < middle]
    if not quiet or len(last) - len(quiet) < _GOES_ON_IN_MOST * len(quiet):
        return ()
    return tuple(replace(c.line, time=c.time) for c in sorted(quiet, key=lambda c: c.time))
