"""Find where another run begins in a file in which a job had ended, though no line says so.

Who starts a job again into the same file often leaves no mark. What tells it: steps of a program
that was not heard before, or of one whose steps begin anew; processes that set up their links; or
a failure hours after the end. One sign must do, yet a wrong cut hides the
evidence before it: a trainer that goes on counting has not ended, whatever it said, and kernel
lines of later days are no run.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from app.detect.repeated import in_words
from app.model import Compressed, Line, Marked, Point, Sighting

_FEWEST_READINGS = 3  # of a loss, or of a known counter that fell back; fewer may be an evaluation
_SHORT_COUNT = 100  # steps
_AT_ONCE = 4  # lines; who starts a program again sees it load and set up
_MANY_READINGS = 10  # of a counter that was never heard and shows no loss
# they go on when the job has ended
_KERNEL = re.compile(r"\bkernel: |\bNVRM: |^\[ *\d{1,9}\.\d{3,9}\] |\bmlx5_core ")
_HOURS_LATER = 2 * 3600.0  # seconds; no collective or store waits longer by default


def appended_runs(
    log: Compressed, marks: Sequence[Marked], sightings: Iterable[Sighting]
) -> Mapping[int, list[int]]:
    """Give the line numbers where another run follows a standing end, by file."""
    of_file: dict[int, list[Marked]] = defaultdict(list)
    for mark in marks:
        of_file[mark.line.file].append(mark)
    points: dict[int, list[Point]] = defaultdict(list)
    for point in log.points:
        if not point.evaluates:
            points[point.file].append(point)
    lines: dict[int, list[Line]] = defaultdict(list)
    for line in log.lines:
        lines[line.file].append(line)
    failures = _failures(marks, sightings)
    ended = {file for file, own in of_file.items() if any(map(_ends, own))}
    runs = {
        file: _runs(of_file[file], points[file], lines[file], failures[file])
        for file in sorted(ended | points.keys())
    }
    if not any(runs.values()):
        return {}
    behind = {f: _behind_the_end(of_file[f], lines[f]) for f in ended if not runs[f]}
    return {file: own for file, own in {**runs, **behind}.items() if own}


def heads(
    runs: Mapping[int, Sequence[int]], marks: Iterable[Marked]
) -> dict[int, list[tuple[int, int]]]:
    """Give where the text of each run begins: from the end or the start before it to the run."""
    edges: dict[int, list[int]] = defaultdict(list)
    for mark in marks:
        if _ends(mark) or mark.kind == "start":
            edges[mark.line.file].append(mark.line.number + _ends(mark))
    return {
        file: [(max((n for n in edges[file] if n <= run), default=run), run) for run in own]
        for file, own in runs.items()
    }


def sets_up_links(mark: Marked) -> bool:
    """Say whether a process that was just started looks for its peers here."""
    return mark.kind == "place" and "NCCL INFO Boot" in mark.line.text


def _ends(mark: Marked) -> bool:
    return mark.kind == "finished" and mark.grade in ("trainer", "wrapper")


def _failures(marks: Iterable[Marked], sightings: Iterable[Sighting]) -> dict[int, list[int]]:
    """Where something fails, by file: a launcher says so, or a program that is not the kernel."""
    found: dict[int, list[int]] = defaultdict(list)
    for mark in marks:
        if mark.kind == "failed":
            found[mark.line.file].append(mark.line.number)
    for sighting in sightings:
        if sighting.strength in ("proof", "clue") and not _KERNEL.search(sighting.line.raw):
            found[sighting.line.file].append(sighting.line.number)
    return found


def _runs(
    marks: Sequence[Marked],
    points: Sequence[Point],
    lines: Sequence[Line],
    failures: Sequence[int],
) -> list[int]:
    found: set[int] = set()
    rounds = _of_rounds(marks, points)
    for end in filter(_ends, marks):
        if in_words(end) in rounds:
            continue
        signs = (
            _trains_anew(end.line.number, points),
            _linked_anew(end.line, marks),
            _failed_later(end.line, marks, lines, failures),
        )
        found.update([min(told)] if (told := [sign for sign in signs if sign]) else [])
    for last in _counted_out(points):
        found.update([anew] if (anew := _trains_anew(last.number, points)) else [])
    return sorted(found)


def _of_rounds(marks: Sequence[Marked], points: Sequence[Point]) -> set[str]:
    """Give the words behind which steps begin anew at once, more than once: one run's rounds."""
    at_once = Counter(
        in_words(end)
        for end in filter(_ends, marks)
        if (anew := _trains_anew(end.line.number, points)) and anew - end.line.number <= _AT_ONCE
    )
    return {words for words, times in at_once.items() if times > 1}


def _counted_out(points: Iterable[Point]) -> list[Point]:
    """Give the last readings of counters that reached their totals; a short one is a warm-up."""
    last = {point.series: point for point in points if point.step is not None}
    return [
        point
        for series, point in last.items()
        if "epoch" not in series and _SHORT_COUNT <= (point.total_steps or 0) <= (point.step or 0)
    ]


def _behind_the_end(marks: Sequence[Marked], lines: Sequence[Line]) -> list[int]:
    """Cut a file where others of the same job begin another run."""
    end = max(mark.line.number for mark in marks if _ends(mark))
    return [line.number for line in lines if line.number > end][:1]


def _trains_anew(end: int, points: Sequence[Point]) -> int | None:
    """Find the first step of another program, or of one that counts from a lower step again."""
    reached: dict[str, int] = {}
    for point in points:
        if point.number <= end:
            reached[point.series] = max(reached.get(point.series, 0), point.step or 0)
    after = [point for point in points if point.number > end]
    fresh = [point for point in after if _is_fresh(point, reached)]
    if len(fresh) >= _FEWEST_READINGS:
        return fresh[0].number
    counted = [p for p in after if p.series not in reached and "bar" not in p.series]
    return counted[0].number if len(counted) >= _MANY_READINGS else None


def _is_fresh(point: Point, reached: Mapping[str, int]) -> bool:
    """A counter that was never heard may belong to what follows training; a loss does not."""
    if point.series not in reached:
        return point.loss is not None
    return point.step is not None and point.step < reached[point.series]


def _linked_anew(end: Line, marks: Iterable[Marked]) -> int | None:
    behind = (mark.line.number for mark in marks if sets_up_links(mark))
    return next((number for number in behind if number > end.number), None)


def _failed_later(
    end: Line, marks: Sequence[Marked], lines: Sequence[Line], failures: Sequence[int]
) -> int | None:
    """Find where the clock jumps by hours behind the end, if something failed after that."""
    told = [(line.number, line.time) for line in lines if line.time is not None]
    clock = end.time or max((time for number, time in told if number < end.number), default=None)
    if clock is None:
        return None
    late = clock + _HOURS_LATER
    begin = next((number for number, time in told if number > end.number and time > late), None)
    if begin is None or not any(number >= begin for number in failures):
        return None
    own = [number for number, time in told if number < begin and time <= late]
    own += [mark.line.number for mark in marks if _ends(mark) and mark.line.number < begin]
    return next(line.number for line in lines if line.number > max(own))
