"""Find where a job that had died runs again in the same file, though no known line says so.

Two things tell it. A counter of steps that stood behind a death is lower after it: somebody went
back to a checkpoint. Or the line with which the file began comes again: whatever program it was,
it has been started anew. A death alone tells nothing, since ranks die one after another, and kernel
lines go on; a line that is printed while steps are made is no beginning.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from app.detect.alike import in_kind
from app.model import Compressed, Line, Marked, Point, Sighting

_FEWEST_READINGS = 3
_FIRST_LINES = 3
_MOST_FIRST_LINES = 40
_FEWEST_WORDS = 2
_WORD = re.compile(r"[^\W\d_]{3,}")
# Many tracebacks are alike, as are usage texts and codes that native code hands upwards; what
# stands further in goes on with what another line began.
_TRACE = re.compile(
    r"\s|Traceback \(most recent call|During handling of|The above exception was|[Uu]sage: "
    r"|frame #\d|.{0,120}\.(?:cc|cpp|cu|h|c):\d+ -> \d"
)


def restarted_runs(
    log: Compressed,
    marks: Iterable[Marked],
    sightings: Iterable[Sighting],
    heads: Mapping[int, Sequence[tuple[int, int]]] = MappingProxyType({}),
) -> Mapping[int, list[int]]:
    """Give the line numbers where a run begins behind a death, by file.

    `heads` are the first and last lines of where the text of another job is known to begin.
    """
    deaths = _by_file([*_proofs(sightings), *_failures(marks)])
    steps: dict[int, list[Point]] = defaultdict(list)
    for point in log.points:
        if point.step is not None and not point.evaluates:
            steps[point.file].append(point)
    lines: dict[int, list[Line]] = defaultdict(list)
    for line in log.lines:
        if line.file in deaths:
            lines[line.file].append(line)
    return {
        file: sorted(
            {
                *_went_back(own, steps[file]),
                *(
                    cut
                    for head in ((0, 0), *heads.get(file, ()))
                    for cut in _began_anew(own, steps[file], lines[file], *head)
                ),
            }
        )
        for file, own in deaths.items()
    }


def _proofs(sightings: Iterable[Sighting]) -> list[Line]:
    return [sighting.line for sighting in sightings if sighting.strength == "proof"]


def _failures(marks: Iterable[Marked]) -> list[Line]:
    return [mark.line for mark in marks if mark.kind == "failed"]


def _by_file(lines: Iterable[Line]) -> dict[int, list[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for line in lines:
        found[line.file].add(line.number)
    return {file: sorted(numbers) for file, numbers in found.items()}


def _went_back(deaths: Sequence[int], steps: Sequence[Point]) -> list[int]:
    """Cut behind the last death before a counter that fell while the job was dead."""
    rows: dict[tuple[int | None, str], list[Point]] = defaultdict(list)
    for point in steps:
        rows[point.rank, point.series].append(point)
    cuts = []
    for own in rows.values():
        highest = 0
        for place, (point, later) in enumerate(zip(own, own[1:], strict=False)):
            highest = max(highest, point.step or 0)
            died = bisect_left(deaths, later.number) - 1
            if died < 0 or deaths[died] < point.number or (later.step or 0) > highest:
                continue
            if len(own) - place > _FEWEST_READINGS and (later.step or 0) < highest:
                cuts.append(deaths[died] + 1)
                highest = 0
    return cuts


def _began_anew(
    deaths: Sequence[int], steps: Sequence[Point], lines: Sequence[Line], head: int, last: int
) -> list[int]:
    """Cut where one of the first lines from the head on comes again behind a death."""
    deaths = deaths[bisect_left(deaths, max(head, last)) :]
    lines = lines[bisect_left(lines, head, key=lambda line: line.number) :]
    if not deaths:
        return []
    stepped = sorted(point.number for point in steps)
    metrics = set(stepped)
    near = bisect_right(lines, last, key=lambda line: line.number)
    first = lines[: min(max(near, _FIRST_LINES), _MOST_FIRST_LINES)]
    for banner in (line for line in first if _is_banner(line) and line.number < deaths[0]):
        if banner.number in metrics:
            continue
        kind = in_kind(banner)
        again = [line.number for line in lines if in_kind(line) == kind]
        pairs = list(zip(again, again[1:], strict=False))
        cuts = [later for number, later in pairs if _any_in(deaths, number, later)]
        rest = [pair for pair in pairs if pair[1] not in cuts]
        if cuts and not any(_any_in(stepped, *pair) for pair in rest):
            return cuts
    return []


def _is_banner(line: Line) -> bool:
    words = len(_WORD.findall(line.text))
    return line.rank is None and words >= _FEWEST_WORDS and not _TRACE.match(line.text)


def _any_in(numbers: Sequence[int], first: int, last: int) -> bool:
    """Say whether any of the sorted numbers lies between two."""
    return bisect_right(numbers, first) < bisect_left(numbers, last)
