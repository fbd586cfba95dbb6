"""How an attempt ended: does anybody say that the job finished, and does that word stand?

The trainer's own word counts most, a wrapper's less (`echo done` after a crash), and a line that
merely looks like an end least. A word falls when training goes on after it, when the job starts
again, or, unless the trainer gave it, when a launcher reports a failure.
"""

from collections.abc import Sequence

from app.model import Ending, Line, Marked, Point

_GRADES = ("hint", "wrapper", "trainer")
_GOES_ON = 3  # steps after an end mark that take its word away


def ending(marks: Sequence[Marked], points: Sequence[Point]) -> Ending:
    """Weigh the end marks of one attempt."""
    failed = next((mark.line for mark in reversed(marks) if mark.kind == "failed"), None)
    best: Marked | None = None
    for mark in marks:
        if mark.kind != "finished" or _is_void(mark, marks, points, failed):
            continue
        if best is None or _grade(mark) >= _grade(best):
            best = mark
    if best is None:
        return Ending(failed=failed)
    return Ending(best.grade, best.line, failed)


def _grade(mark: Marked) -> int:
    return _GRADES.index(mark.grade) if mark.grade else 0


def _is_void(
    mark: Marked, marks: Sequence[Marked], points: Sequence[Point], failed: Line | None
) -> bool:
    steps = {
        point.step
        for point in points
        if point.step is not None
        and not point.series.startswith("eval")
        and point.file == mark.line.file
        and point.number > mark.line.number
    }
    if len(steps) >= _GOES_ON:
        return True
    started = any(
        other.kind == "start"
        and other.line.file == mark.line.file
        and other.line.number > mark.line.number
        for other in marks
    )
    if started:
        return True
    return failed is not None and mark.grade != "trainer"
