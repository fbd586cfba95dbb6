"""Set apart what a batch system tells of a whole job above the output of the job.

    Sender: LSF System <lsf@node-7>
    Terminated at Wed May 15 00:47:39 2026
    TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.
    The output (if any) follows:

Such a report was written last, when the job was over, though it stands first. Read in its place it
would come before all steps, be survived by them, and belong to the first attempt that the output
shows. So its lines are taken for a file of their own, of the same name and with their own numbers,
as other batch systems write one; and its time is that of the first signal to the job.
"""

import time
from bisect import bisect_left
from calendar import timegm
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.model import Compressed, Line, LogFile, Marked

# LSF sends SIGINT, SIGTERM and SIGKILL, ten seconds apart if nothing else is set; ranks that wait
# in a collective take some more to fall.
_GRACE = 60.0


@dataclass(frozen=True, slots=True)
class _Report:
    """A report from its first line to its last, and when it says that the job ended."""

    begun: Marked
    last: int
    ended: float | None


def with_reports_apart(
    log: Compressed, marks: Sequence[Marked]
) -> tuple[Compressed, tuple[Marked, ...]]:
    """Give the log and its marks with each report that stands above its output in its own file.

    A file to which several jobs write holds their reports, and a run starts at each.
    """
    reports = _reports(marks)
    if not reports:
        return log, tuple(marks)
    there = partial(_there, reports, [_place(one.begun.line) for one in reports], len(log.files))
    files = (LogFile(log.files[one.begun.line.file].name, 0, 0, 0) for one in reports)
    lines = sorted(map(there, log.lines), key=_place)
    # An exit code of 0 is that of the script's last command, and says little of what it held.
    moved = [
        mark if mark.kind == "finished" else replace(mark, line=there(mark.line)) for mark in marks
    ]
    moved += [replace(one.begun, kind="start") for one in reports]
    return (
        replace(log, files=(*log.files, *files), lines=_bounded(lines)),
        tuple(sorted(moved, key=lambda mark: _place(mark.line))),
    )


def _bounded(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Tell lines without a time that they are no later than the next one with a time.

    Beside a report that alone has a clock, a traceback of hours ago would be its wreckage.
    """
    found: list[Line] = []
    file, latest = -1, None
    for line in reversed(lines):
        if line.file != file:
            file, latest = line.file, None
        if line.time is not None:
            latest = line.time
        elif line.until is None and latest is not None:
            line = replace(line, until=latest)
        found.append(line)
    return tuple(reversed(found))


def _reports(marks: Sequence[Marked]) -> list[_Report]:
    found: list[_Report] = []
    begun: Marked | None = None
    ended: float | None = None
    for mark in marks:
        if mark.kind != "report":
            continue
        if when := mark.facts.get("ended"):
            ended = _seconds(when)
        elif "output" not in mark.facts:
            begun, ended = mark, None
        elif begun is not None and begun.line.file == mark.line.file:
            if mark.facts["output"] == "follows":
                found.append(_Report(begun, mark.line.number, ended))
            begun = None
    return found


def _there(
    reports: Sequence[_Report], begun: Sequence[tuple[int, int]], files: int, line: Line
) -> Line:
    """Move a line of a report to its own file; the first tells where the job ran, and stays."""
    index = bisect_left(begun, _place(line)) - 1
    if index < 0 or begun[index][0] != line.file or line.number > reports[index].last:
        return line
    ended = reports[index].ended
    return replace(line, file=files + index, time=None if ended is None else ended - _GRACE)


def _place(line: Line) -> tuple[int, int]:
    return line.file, line.number


def _seconds(when: str) -> float | None:
    try:
        return timegm(time.strptime(when, "%a %b %d %H:%M:%S %Y"))
    except ValueError:
        return None
