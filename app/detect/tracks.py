"""Sort readings of training progress into series that may be compared.

A track is one series of one printer. Its step counter may start again (a resume, a stage, an
epoch): runs between such restarts are judged by themselves, but for a counter that goes back a
little, as after a rollback, which is the same training still.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.model import Line, Point

_SAME_RUN = 0.5  # a counter that falls to less than this share of what it had reached starts anew
_OTHERS_GO_ON = 5  # readings after which another series has taken over


@dataclass(frozen=True, slots=True)
class Track:
    """The readings of one series, in order."""

    points: tuple[Point, ...]

    @property
    def last(self) -> Point:
        """The last reading."""
        return self.points[-1]

    @property
    def reinforces(self) -> bool:
        """Whether it comes from reinforcement learning, where a loss may have any sign."""
        return self.last.series.startswith("rl")

    def run(self) -> tuple[Point, ...]:
        """Give the readings since the step counter started anew for the last time."""
        begin, highest = 0, 0
        for place, point in enumerate(self.points):
            step = point.step
            if step is None:
                continue
            if step < highest * _SAME_RUN:
                begin, highest = place, step
            highest = max(highest, step)
        return self.points[begin:]


def tracks(points: Sequence[Point]) -> tuple[Track, ...]:
    """Give the series of training, evaluations left out."""
    by_series: dict[tuple[int, int | None, str], list[Point]] = {}
    for point in points:
        if not point.evaluates:
            by_series.setdefault((point.file, point.rank, point.series), []).append(point)
    return tuple(Track(tuple(own)) for own in by_series.values())


def still_running(all_tracks: Sequence[Track]) -> tuple[Track, ...]:
    """Leave out series that another one of the same file took over from: stages that are past."""
    late: dict[int, int] = {}
    for track in all_tracks:
        losses = [point.number for point in track.points if point.loss is not None]
        if len(losses) >= _OTHERS_GO_ON:
            file = track.last.file
            late[file] = max(late.get(file, 0), losses[-_OTHERS_GO_ON])
    return tuple(t for t in all_tracks if t.last.number >= late.get(t.last.file, 0))


class Shown:
    """The kept lines by place, to show the one from which a reading comes."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._at: dict[tuple[int, int], list[Line]] = {}
        for line in lines:
            self._at.setdefault((line.file, line.number), []).append(line)

    def line(self, point: Point) -> Line:
        """Give the line of a reading; where it was not kept, what the reading holds of it.

        Rank and host are left out: what a metric line tells is true of the whole job.
        """
        pieces = self._at.get((point.file, point.number), [])
        step = str(point.step)
        piece = next((p for p in pieces if step in p.text), pieces[-1] if pieces else None)
        if piece is None:
            said = point.text
            return Line(point.file, point.number, raw=said, text=said, time=point.time)
        return of_the_job(replace(piece, time=piece.time or point.time))


def of_the_job(line: Line) -> Line:
    """Take rank and host off a line, so that its printer is not suspected of what it tells."""
    return replace(line, rank=None, host=None)
