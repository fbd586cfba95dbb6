"""How fast steps come: the usual time from one reading to the next, and remarks on slow ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from app.detect.silence import Clocked, with_carried
from app.detect.tracks import Track
from app.model import Point

_FEWEST = 3
_FEWEST_BOUNDED = 10  # readings that a pace without clocks needs
_FEWEST_TO_COMPARE = 40
_SLOW = 2.0
_SLOW_FOR_GOOD = 1.5
_SLOW_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds from one reading to the next: what is usual, and the longest that was survived."""

    usual: float
    longest: float


def pace(track: Track, times: Mapping[tuple[int, int], float]) -> Pace | None:
    """Measure a series by its clock, else by what it says of its steps."""
    gaps = _clocked_gaps(track.points, times)
    if len(gaps) < _FEWEST:
        gaps = _told_gaps(track.points)
    if len(gaps) < _FEWEST:
        return None
    return Pace(median(gaps), max(gaps))


def pace_among(
    track: Track, times: Mapping[tuple[int, int], float], timeline: Sequence[Clocked]
) -> Pace | None:
    """Measure the steps by their own clock, else by that of the lines among them."""
    return pace(track, times) or pace(track, with_carried(times, track.points, timeline))


def slowest_pace(track: Track, timeline: Sequence[Clocked], at_least: float) -> Pace | None:
    """Bound the pace of steps without a clock by those of the lines before and after all of them.

    No step took longer than all together; what is less than `at_least` seconds counts as that.
    """
    run = track.run()
    own = [c for c in timeline if c.line.file == run[0].file]
    before = [c.time for c in own if c.line.number < run[0].number]
    behind = [c.time for c in own if c.line.number > run[-1].number]
    if len(run) < _FEWEST_BOUNDED or not before or not behind:
        return None
    longest = max(behind[0] - before[-1], at_least)
    return Pace(longest / len(run), longest)


def _clocked_gaps(points: Sequence[Point], times: Mapping[tuple[int, int], float]) -> list[float]:
    clocked = [point.time or times.get((point.file, point.number)) for point in points]
    known = [time for time in clocked if time is not None]
    return [later - time for time, later in zip(known, known[1:], strict=False) if later > time]


def _told_gaps(points: Sequence[Point]) -> list[float]:
    gaps = []
    for point, later in zip(points, points[1:], strict=False):
        if later.step_seconds is not None:
            steps = (later.step or 0) - (point.step or 0)
            gaps.append(later.step_seconds * max(1, steps))
    return gaps


def remarks_on_pace(all_tracks: Sequence[Track]) -> tuple[str, ...]:
    """Say what the steps of the longest series tell of throughput, if that is worth a line."""
    longest = max(all_tracks, key=lambda t: len(_timed(t)), default=None)
    timed = _timed(longest) if longest else []
    if len(timed) < _FEWEST_TO_COMPARE:
        return ()
    seconds = [point.step_seconds or 0.0 for point in timed]
    usual = median(seconds)
    late = median(seconds[-len(seconds) // 10 :])
    if late >= _SLOW_FOR_GOOD * usual:
        slower = (i for i, s in enumerate(seconds) if s >= _SLOW_FOR_GOOD * usual)
        since = timed[next((i for i in slower if median(seconds[i:]) >= _SLOW * usual), -1)]
        return (
            f"steps became slower: {usual:.3g} s at first, {late:.3g} s at the end, "
            f"since step {since.step}",
        )
    slow = [s for s in seconds[_FEWEST:] if s >= _SLOW * usual]
    if len(slow) < max(_FEWEST, _SLOW_SHARE * len(seconds)):
        return ()
    return (
        f"{len(slow)} of {len(seconds)} steps that were read took {median(slow):.3g} s instead of "
        f"{usual:.3g} s: garbage collection, saving or a data loader that lags",
    )


def _timed(track: Track) -> list[Point]:
    return [point for point in track.run() if point.step_seconds]
