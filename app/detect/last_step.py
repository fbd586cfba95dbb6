"""Which reading is the last step that training made, and whether it was the last of all."""

from collections import Counter
from collections.abc import Mapping, Sequence

from app.detect.tracks import Track
from app.model import Point

_TOLD_AGAIN = 5  # readings of one step, and of others before it


def last_to_step(tracks: Sequence[Track], times: Mapping[tuple[int, int], float]) -> Track | None:
    """Find the series that was heard of last; one that has no clock yields to one that has."""
    stepping = [t for t in tracks if t.last.step is not None or t.last.loss is not None]
    readings = Counter(t.last.file for t in stepping for _ in t.points)
    return max(
        stepping,
        key=lambda t: (
            time_of(t.last, times) or float("-inf"),
            readings[t.last.file],
            t.last.number,
        ),
        default=None,
    )


def first_of_the_last_step(track: Track) -> Point:
    """Give the last reading, or where its step was told first, if it is told again and again."""
    told = [point for point in track.run() if point.step == track.last.step]
    moved = len(track.run()) - len(told)
    again = track.last.step is not None and min(len(told), moved) >= _TOLD_AGAIN
    return told[0] if again else track.last


def time_of(point: Point, times: Mapping[tuple[int, int], float]) -> float | None:
    """Give the time of a reading, its own or that of its line."""
    return point.time if point.time is not None else times.get((point.file, point.number))


def is_at_its_end(last: Point) -> bool:
    """Say whether it is the last of all steps of the run."""
    total = None if last.counts in ("epoch", "some epoch") else last.total_steps
    return total is not None and last.step is not None and last.step >= total
