"""Leave aside what training survived: whatever work goes on behind did not end it.

The steps of the printer itself tell most. In most jobs one rank alone prints steps, though, and
kernels, schedulers and other programs make none. There the steps of anybody tell, as ranks train
in step, but with care: a file may show late what was held back in a buffer, so that either clocks
must agree or more steps follow than a buffer holds. The clocks of two files may differ by minutes,
and by whole hours where one tells local time; by more than all zones lie apart they do not, and
what happened so long before the first step was no part of the job.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from math import isfinite
from typing import Literal

from app.model import OUTLIVED, Line, Point, Sighting
from app.rulebook.compiled import Compiled

_GONE_ON = 5  # different steps after an error that show it did no harm
_UNBUFFERED = 100  # steps, of which a buffer of 8 KiB (Python's, and stdio's of 4) holds no more
_GRACE = 1800.0  # seconds; schedulers give less from their notice to the end
_SKEW = 3600.0  # seconds by which the clocks of two files may differ, if they tell the same zone
_ZONES = 26 * 3600.0  # from UTC-12 to UTC+14
_Outlasted = Literal["no", "perhaps", "surely"]


def without_survived(
    sightings: Sequence[Sighting], points: Sequence[Point], compiled: Compiled, *, finished: bool
) -> tuple[tuple[Sighting, ...], tuple[Sighting, ...]]:
    """Drop what training survived; return what is left, and what was dropped.

    Clues and echoes fall by five more steps of their printer, and so does an exception that
    somebody may have caught, for all that it is printed as if nobody had. Other proofs fall where
    it is sure that work went on, and become clues where it may be. Where the trainer says that it
    `finished`, proofs fall as clues do, and a clue of numbers that are none by one loss that is.
    """
    steps = _Steps(points)
    sound = _last_sound_losses(points) if finished else {}
    mild = ("clue", "echo", "proof") if finished else ("clue", "echo")
    left: list[Sighting] = []
    survived: list[Sighting] = []
    for sighting in sightings:
        if sighting.strength == "context":
            left.append(sighting)
            continue
        own = sighting.strength in mild and steps.go_on_after(sighting.line)
        own |= _is_healed(sighting, sound, compiled)
        caught = sighting.survivable and steps.go_on_after(sighting.line, of_its_own=True)
        how = "surely" if own or caught else _outlasted(sighting, steps, compiled)
        if how == "surely":
            survived.append(sighting)
        elif how == "perhaps" and sighting.strength == "proof":
            left.append(replace(sighting, strength="clue", doubt=OUTLIVED))
        else:
            left.append(sighting)
    return tuple(left), tuple(survived)


def _is_healed(sighting: Sighting, sound: Mapping[int, int], compiled: Compiled) -> bool:
    """Say whether it warns of a step that was no number, and the last loss behind it is one."""
    cause = compiled.rulebook.signal_named[sighting.signal].cause
    of_numbers = sighting.strength in ("clue", "echo") and cause == "NonFiniteLoss"
    return of_numbers and sighting.line.number < sound.get(sighting.line.file, 0)


def _last_sound_losses(points: Sequence[Point]) -> Mapping[int, int]:
    """Give by file the line of the last loss of training, where that is a number."""
    last: dict[int, Point] = {}
    for point in points:
        told = last.get(point.file)
        trains = point.loss is not None and not point.evaluates
        if trains and (told is None or point.number > told.number):
            last[point.file] = point
    return {f: p.number for f, p in last.items() if p.loss is not None and isfinite(p.loss)}


def _outlasted(sighting: Sighting, steps: "_Steps", compiled: Compiled) -> _Outlasted:
    """Say whether work of anybody went on; what ails the training itself lets it go on."""
    rulebook = compiled.rulebook
    cause = rulebook.causes.get(rulebook.signal_named[sighting.signal].cause)
    domain = cause.domain if cause else ""
    if domain == "training":
        return "no"
    return steps.outlast(sighting.line, _GRACE if domain == "scheduler" else 0.0)


@dataclass(frozen=True, slots=True)
class _Onward:
    """The line before which so many different steps follow, and the time of its reading."""

    number: int = 0
    time: float | None = None


class _Steps:
    """How far each printer went on; what names no rank may be anybody's.

    A reading that tells no step, as `{'loss': 2.31, 'epoch': 0.4}`, is a step too, unless others
    of its printer number theirs: then it may be a part of one.
    """

    def __init__(self, points: Sequence[Point]) -> None:
        self._of: dict[int, dict[int | None, list[Point]]] = defaultdict(lambda: defaultdict(list))
        for point in sorted(points, key=lambda point: -point.number):
            if point.step is not None or (point.loss is not None and not point.evaluates):
                self._of[point.file][point.rank].append(point)
        self._own: dict[tuple[int, int | None, bool], int] = {}
        self._onward: dict[tuple[int, int | None, int], _Onward] = {}
        self._clocked: dict[int, list[Point]] = defaultdict(list)
        for point in sorted(points, key=lambda point: point.number):
            if point.time is not None:
                self._clocked[point.file].append(point)
        self._begin = min((p.time for p in points if p.time is not None), default=None)

    def go_on_after(self, line: Line, *, of_its_own: bool = False) -> bool:
        """Say whether the printer of a line, and `of_its_own` nobody else, made steps after it."""
        key = line.file, line.rank, of_its_own
        if key not in self._own:
            self._own[key] = self._end(*key)
        return line.number < self._own[key]

    def outlast(self, line: Line, grace: float) -> _Outlasted:
        """Say whether anybody made steps after a line, `grace` seconds later at least.

        A rank that prints steps of its own is judged by these alone.
        """
        if line.time is not None and self._begin is not None and line.time < self._begin - _ZONES:
            return "surely"
        if line.file not in self._of:
            return self._outlast_by_clock(line, max(grace, _SKEW))
        rank = line.rank if line.rank in self._of[line.file] else None
        few, many = (self._after(line.file, rank, count) for count in (_GONE_ON, _UNBUFFERED))
        if line.number >= few.number:
            return "no"
        if line.time is not None and few.time is not None:
            return "surely" if line.time + grace < few.time else "no"
        if line.number >= many.number:
            return "no" if grace else "perhaps"
        return "surely" if not grace or self._seconds_to(few, line) >= grace else "no"

    def _seconds_to(self, onward: _Onward, line: Line) -> float:
        """Give the seconds from the first reading behind a line without a clock; 0 if not told."""
        clocked = self._clocked[line.file]
        place = bisect_right(clocked, line.number, key=lambda point: point.number)
        if place == len(clocked) or onward.time is None:
            return 0.0
        return onward.time - (clocked[place].time or 0.0)

    def _outlast_by_clock(self, line: Line, grace: float) -> _Outlasted:
        """Say so of a line in a file without steps, by the steps of other files."""
        ends = [self._after(file, None, _GONE_ON).time for file in self._of]
        last = max((time for time in ends if time is not None), default=None)
        if line.time is None or last is None:
            return "no"
        return "perhaps" if line.time + grace < last else "no"

    def _after(self, file: int, rank: int | None, count: int) -> _Onward:
        """Find where so many steps were still to come: a rank's, or without one anybody's."""
        key = file, rank, count
        if key not in self._onward:
            of_rank = self._of[file]
            trained = (
                [point for point in of_rank[own] if not point.evaluates]
                for own in (of_rank if rank is None else (rank,))
            )
            self._onward[key] = _walked_back(_merged(trained), count)
        return self._onward[key]

    def _end(self, file: int, rank: int | None, of_its_own: bool) -> int:
        of_rank = self._of.get(file, {})
        ranks = of_rank if rank is None else {None, rank} & of_rank.keys()
        if of_its_own:
            ranks = {rank} & of_rank.keys()
        return _walked_back(_merged(of_rank[own] for own in ranks), _GONE_ON).number


def _merged(series: Iterable[Sequence[Point]]) -> list[Point]:
    return list(merge(*series, key=lambda point: -point.number))


def _walked_back(own: Sequence[Point], count: int) -> _Onward:
    """Walk back from the end until so many different steps were met."""
    numbered = any(point.step is not None and point.loss is not None for point in own)
    steps: Mapping[str, set[int | str]] = defaultdict(set)
    for point in own:
        if point.step is not None:
            met = steps[""]
            met.add(point.step)
        elif not numbered:
            met = steps[point.series]
            met.add(point.text or str(point.loss))
        else:
            continue
        if len(met) >= count:
            return _Onward(point.number, point.time)
    return _Onward()
