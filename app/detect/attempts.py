"""Cut a log into the attempts it holds: restarts by a launcher, requeues, appended runs.

Every rank prints its own start line, so a start line alone cuts nothing: a new attempt begins at
one that comes after the job had gone on, had failed or had ended, unless it is only the next rank
of the same start. Files that bear the number of an attempt in their names are attempts of their
own, if their clocks do not show that they were written side by side. Where clocks go back at a
start, the output was put together in another order than it was written, and nothing is cut. Nor is
it before the next stage of one attempt: see `stages`.
What follows the end of a job may be another run without a start line: see `appended`.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from app.detect.agents import of_the_job
from app.detect.appended import appended_runs, heads
from app.detect.reopened import reopened_runs
from app.detect.restarted import restarted_runs
from app.detect.stages import stages
from app.model import Attempt, Compressed, Marked, Sighting

# attempt_0/3/stderr.log, job-4711.restart2.out; not torchrun_1.log, which is that of a node
_IN_NAME = tuple(
    re.compile(rf"(?<![a-z]){word}[-_.]?(\d{{1,15}})", re.IGNORECASE)
    for word in ("attempt", "restart", "requeue", "retry", "try", "run")
)
_WEAK = _IN_NAME[-2:]  # try_3, run_3: as often the number of a rank or an experiment
_HALF_YEAR = 183 * 86_400  # seconds
_Span = tuple[int, int]


def cut(
    log: Compressed, marks: Sequence[Marked], sightings: Sequence[Sighting]
) -> tuple[Attempt, ...]:
    """Give the attempts, first to last; a log without any cut is one attempt."""
    clocks = _Clocks(log)
    appended, reopened = appended_runs(log, marks, sightings), reopened_runs(log, marks)
    known = _cuts(log, marks, sightings, (appended, reopened))
    restarted = of_the_job(restarted_runs(log, marks, sightings, heads(known, marks)), known, log)
    begun = _cuts(log, marks, sightings, (appended, reopened, restarted))
    of_one = stages(log, begun, sightings)
    cuts = {
        file: [
            number
            for number in own
            if number not in of_one.get(file, ()) and not clocks.go_back_at(file, number)
        ]
        for file, own in begun.items()
    }
    last = {line.file: line.number for line in log.lines}
    spans = [
        _spans(max(file.lines, last.get(index, 0)), cuts.get(index, ()))
        for index, file in enumerate(log.files)
    ]
    named = _by_name(log, spans, clocks)
    if named:
        return named
    longest = max(range(len(spans)), key=lambda index: len(spans[index]), default=0)
    longest_spans = spans[longest] if spans else []
    begins = [clocks.first(longest, span) for span in longest_spans] or [None]
    attempts: list[dict[int, _Span]] = [{} for _ in begins]
    for index, own in enumerate(spans):
        for attempt, span in _placed(index, own, begins, clocks):
            attempts[attempt][index] = span
    return tuple(Attempt(number, own) for number, own in enumerate(attempts, 1))


def _by_name(
    log: Compressed, spans: Sequence[Sequence[_Span]], clocks: "_Clocks"
) -> tuple[Attempt, ...] | None:
    """Take files for attempts by their names; each file may hold several in turn."""
    for pattern in _IN_NAME:
        found = [pattern.search(file.name) for file in log.files]
        of_number: dict[int, list[int]] = defaultdict(list)
        for index, match in enumerate(found):
            if match:
                of_number[int(match[1])].append(index)
        files = [of_number[number] for number in sorted(of_number)]
        told = clocks.tell(files) if pattern in _WEAK else True
        if all(found) and len(files) > 1 and told and clocks.in_turn(files):
            runs = [run for own in files for run in _aligned(own, spans)]
            return tuple(Attempt(number, run) for number, run in enumerate(runs, 1))
    return None


def _aligned(files: Sequence[int], spans: Sequence[Sequence[_Span]]) -> Iterable[dict[int, _Span]]:
    """Give the runs of files that were written side by side; their last ones belong together."""
    depth = max(1, *(len(spans[index]) for index in files))
    for left in range(depth, 0, -1):
        yield {index: spans[index][-left] for index in files if len(spans[index]) >= left}


def _cuts(
    log: Compressed,
    marks: Iterable[Marked],
    sightings: Iterable[Sighting],
    unmarked: Iterable[Mapping[int, Iterable[int]]],
) -> Mapping[int, list[int]]:
    """Line numbers where a new attempt begins, by file; `unmarked` are some of them."""
    starts: dict[int, dict[int, Marked]] = defaultdict(dict)
    gone_on: dict[int, set[int]] = defaultdict(set)
    for mark in marks:
        if mark.kind == "start":
            starts[mark.line.file].setdefault(mark.line.number, mark)
        elif mark.kind in ("finished", "failed", "exit"):
            gone_on[mark.line.file].add(mark.line.number)
    for sighting in sightings:
        if sighting.strength in ("proof", "echo"):
            gone_on[sighting.line.file].add(sighting.line.number)
    for point in log.points:
        if point.step is not None:
            gone_on[point.file].add(point.number)
    cuts = {file: set(_cuts_of_file(own, gone_on[file])) for file, own in starts.items()}
    for file, begins in (item for found in unmarked for item in found.items()):
        cuts[file] = cuts.get(file, set()) | set(begins)
    return {file: _apart(sorted(own), gone_on[file]) for file, own in cuts.items()}


def _apart(cuts: Sequence[int], gone_on: Collection[int]) -> list[int]:
    """Leave out a cut behind which nothing happened before the next one: both are one start."""
    between = zip(cuts, cuts[1:], strict=False)
    lived = [cut for cut, end in between if any(cut <= number < end for number in gone_on)]
    return [*lived, *cuts[-1:]]


def _cuts_of_file(starts: Mapping[int, Marked], gone_on: Iterable[int]) -> list[int]:
    between = sorted(gone_on)
    ranks: set[int] = set()
    cuts: list[int] = []
    previous, at = 0, 0
    for number in sorted(starts):
        moved = False
        while at < len(between) and between[at] < number:
            moved = moved or between[at] > previous
            at += 1
        rank = starts[number].line.rank
        if moved and (rank is None or rank in ranks or not ranks):
            cuts.append(number)
            ranks.clear()
        ranks.update(() if rank is None else (rank,))
        previous = number
    return cuts


def _spans(lines: int, cuts: Sequence[int]) -> list[_Span]:
    if not lines:
        return []
    begins = [1, *cuts]
    ends = [*(start - 1 for start in cuts), lines]
    return list(zip(begins, ends, strict=True))


def _placed(
    file: int, own: Sequence[_Span], begins: Sequence[float | None], clocks: "_Clocks"
) -> Iterable[tuple[int, _Span]]:
    """Give each span of a file its attempt: the last ones, or those that its clock allows."""
    free = len(begins) - 1
    for before in range(len(own) - 1, -1, -1):
        last = clocks.last(file, own[before])
        while free > before and _is_earlier(last, begins[free]):
            free -= 1
        yield free, own[before]
        free -= 1


def _is_earlier(time: float | None, other: float | None) -> bool:
    return time is not None and other is not None and time < other


class _Clocks:
    """The times of the kept lines, by file."""

    def __init__(self, log: Compressed) -> None:
        self._of_file: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for line in log.lines:
            if line.time is not None:
                self._of_file[line.file].append((line.number, line.time))

    def first(self, file: int, span: _Span) -> float | None:
        return min(self._times([file], span), default=None)

    def last(self, file: int, span: _Span) -> float | None:
        return max(self._times([file], span), default=None)

    def go_back_at(self, file: int, number: int) -> bool:
        """Say whether what begins here is older than what stands before: one output, shuffled.

        Half a year is no shuffle: a clock was read before the log had told which year it is.
        """
        before = max((time for n, time in self._of_file[file] if n < number), default=None)
        after = min((time for n, time in self._of_file[file] if n >= number), default=None)
        return before is not None and after is not None and 0 < before - after < _HALF_YEAR

    def tell(self, groups: Sequence[Sequence[int]]) -> bool:
        """Say whether each group of files has a clock."""
        return all(self._times(files) for files in groups)

    def in_turn(self, groups: Sequence[Sequence[int]]) -> bool:
        """Say whether no group of files began while the one before it was in its first half."""
        spread = [self._times(files) for files in groups]
        for earlier, later in zip(spread, spread[1:], strict=False):
            if earlier and later and min(later) < (min(earlier) + max(earlier)) / 2:
                return False
        return True

    def _times(self, files: Iterable[int], span: _Span | None = None) -> list[float]:
        first, last = span or (0, float("inf"))
        return [
            time
            for file in files
            for number, time in self._of_file.get(file, ())
            if first <= number <= last
        ]
