"""Hold a series of any length in bounded memory.

Readings are gathered into buckets of a stride, and each bucket keeps those that its shape hangs
on: the first, the lowest and the highest loss, the largest gradient norm, the first that is not
finite and the first without a loss. When too many are held, the stride doubles and neighbouring
buckets merge; what a merged bucket keeps is chosen among what the two had kept, so an extreme
that was met once stays for good.
"""

import math
from dataclasses import replace
from typing import Literal, TypeGuard

from app.model import Point

_MOST_PER_BUCKET = 6
_OPEN = 128
_FEWEST = 32
_MOST_SERIES = 1024


class Thinned:
    """One series; `limit` bounds the points that it holds and gives, 32 being the least."""

    def __init__(self, limit: int) -> None:
        self._limit = max(_FEWEST, limit)
        self._stride = 1
        self._closed: list[list[Point]] = []
        self._held = 0
        self._open: list[Point] = []
        self._in_open = 0
        self._last: Point | None = None

    def __len__(self) -> int:
        """Count the points held at most."""
        return self._held + len(self._open) + 1

    def add(self, point: Point) -> None:
        """Take the next reading."""
        self._last = point
        self._open.append(point)
        self._in_open += 1
        if self._in_open >= self._stride:
            self._close()
        elif len(self._open) >= _OPEN:
            self._open = _telling(self._open)

    def shrink(self, limit: int) -> None:
        """Give up memory: hold no more than `limit` from now on."""
        self._limit = max(_FEWEST, limit)
        self._thin()

    def points(self) -> list[Point]:
        """Give what is held, in order of arrival."""
        held = [point for bucket in self._closed for point in bucket]
        held += _telling(self._open)
        if self._last is not None and (not held or held[-1] is not self._last):
            held.append(self._last)
        return held

    def _close(self) -> None:
        bucket = self._open if len(self._open) == 1 else _telling(self._open)
        self._closed.append(bucket)
        self._held += len(bucket)
        self._open = []
        self._in_open = 0
        if self._held > self._room:
            self._thin()

    @property
    def _room(self) -> int:
        return self._limit - _MOST_PER_BUCKET - 1

    def _thin(self) -> None:
        """Halve at least, so that the work is paid for by as many new readings."""
        if self._held <= self._room:
            return
        while self._held > self._room // 2 and len(self._closed) > 1:
            self._stride *= 2
            pairs = zip(self._closed[::2], [*self._closed[1::2], []], strict=False)
            self._closed = [_telling(left + right) for left, right in pairs]
            self._held = sum(map(len, self._closed))


def _telling(points: list[Point]) -> list[Point]:
    """Choose the readings that show what happened among these, at most six."""
    if len(points) <= 2:
        return points
    chosen = {0}
    losses = [(p.loss, i) for i, p in enumerate(points) if _is_finite(p.loss)]
    if losses:
        chosen |= {min(losses)[1], max(losses)[1]}
        chosen.update([i for i, p in enumerate(points) if p.loss is None][:1])
    norms = [(p.grad_norm, i) for i, p in enumerate(points) if _is_finite(p.grad_norm)]
    if norms:
        chosen.add(max(norms)[1])
    chosen.update([i for i, p in enumerate(points) if _is_broken(p)][:1])
    return [points[i] for i in sorted(chosen)]


def _is_finite(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _is_broken(point: Point) -> bool:
    return any(v is not None and not math.isfinite(v) for v in (point.loss, point.grad_norm))


class Track:
    """One series under way, with what is needed to count its steps on over epochs."""

    def __init__(self, limit: int) -> None:
        self.held = Thinned(limit)
        self._epoch = 0
        self._step = 0
        self._passed = 0
        self._first: int | None = None

    def over_epochs(self, point: Point, epoch: int, epochs: int | None) -> Point:
        """Count a step of an epoch over all epochs, and say of how many, if `epochs` is known."""
        step, length = point.step or 0, point.total_steps or 0
        self._first = epoch if self._first is None else self._first
        passed = self.passed(epoch, step, length)
        last = epochs - (self._first == 0) if epochs else None
        left = None if last is None else max(0, last - epoch)
        if not passed:
            # Steps may be counted over epochs already, which a single epoch does not tell.
            if left is None and epoch > self._first or left == 0:
                return point
            # A run that goes on somewhere may count its epochs from 0 or from 1.
            others = left is not None and (left > 1 or self._first <= 1)
            return replace(point, counts="epoch" if others else "some epoch")
        total = passed + length * (1 + (left or 0))
        counts: Literal["some epoch", "all"] = "some epoch" if left is None else "all"
        return replace(point, step=step + passed, total_steps=total, counts=counts)

    def passed(self, epoch: int, step: int, length: int) -> int:
        """Count the steps of passed epochs, where steps begin anew with each epoch.

        A step that does not rise while the epoch rises tells that they do. The first epoch that is
        seen counts as the first.
        """
        anew = epoch > self._epoch and step <= self._step
        back = epoch < self._epoch and self._passed > 0
        if anew or back:
            self._passed = max(0, self._passed + (epoch - self._epoch) * length)
        self._epoch, self._step = epoch, step
        return self._passed


class Tracks:
    """All series of a log by file, rank and name, at most `2 * limit` points of them together."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._share = limit
        self._tracks: dict[tuple[int, int | None, str], Track] = {}

    def track(self, file: int, rank: int | None, series: str) -> Track | None:
        """Find a series or begin it; None when there are too many."""
        key = file, rank, series
        track = self._tracks.get(key)
        if track is None:
            if len(self._tracks) >= _MOST_SERIES and not self._drop_single():
                return None
            track = self._tracks[key] = Track(self._share)
            self._divide()
        return track

    def points(self) -> list[Point]:
        """Give what is held, in order of (file, number)."""
        points = [point for track in self._tracks.values() for point in track.held.points()]
        points.sort(key=lambda point: (point.file, point.number))
        return points

    def _divide(self) -> None:
        share = min(self._limit, 2 * self._limit // len(self._tracks))
        if share < self._share // 2:
            self._share = share
            for track in self._tracks.values():
                track.held.shrink(share)

    def _drop_single(self) -> bool:
        """Give up the series that were met once: words that vary, taken for a name."""
        kept = {key: track for key, track in self._tracks.items() if len(track.held) > 2}
        dropped = len(kept) < len(self._tracks)
        self._tracks = kept
        return dropped
