"""How an attempt ended: does anybody say that the job finished, and does that word stand?

The trainer's own word counts most, a wrapper's less (`echo done` after a crash), and a line that
merely looks like an end least. A word falls when training goes on after it, when the job starts
again, where training begins once more in the words that it began with, or, if no counter came to
its end, where something is killed behind it; unless the trainer gave it, also when a launcher
reports a failure or a process died before it. A counter that reached its total is a hint by itself;
with something saved or a hint after it, it is worth a wrapper's word. Words that come again and
again while training goes on, as a best model is saved, are no hint, nor is anything behind a
counter that has steps to go. What any work may print when it is done (a duration, results that were
written) is a sign: `app.detect.closing` weighs several together.
"""

import re
from collections.abc import Sequence

from app.detect.appended import sets_up_links
from app.detect.closing import (
    closing,
    is_in_the_midst,
    trains_again_behind,
    work_goes_on_behind,
)
from app.model import EndGrade, Ending, Line, Marked, Point

_DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_GRADES = ("stage", "sign", "hint", "wrapper", "trainer")
_LOOKS_SO = ("stage", "sign", "hint")
_SHARE_OF_A_STRIDE = 0.05  # of the total; what is printed more seldom tells too little
_GOES_ON = 3  # steps after an end mark that take its word away; one does for a hint
_FEWEST_STEPS = 2  # readings that make a counter
_BEGUN = 0.5  # the share of a bar below which it was drawn anew


def ending(marks: Sequence[Marked], points: Sequence[Point], lines: Sequence[Line] = ()) -> Ending:
    """Weigh the end marks of one attempt; `lines` are its kept lines."""
    told = _told(marks, points)
    if told.finished == "hint" and _is_in_the_midst(told.line, points, lines):
        told = Ending(failed=told.failed)
    if told.line is not None and trains_again_behind(told.line, lines):
        return Ending(failed=told.failed)
    if told.finished is not None or told.failed is not None or _has_steps_to_go(points):
        return told
    routine = _routine(marks, points)
    signs = [
        mark
        for mark in marks
        if mark.grade in _LOOKS_SO
        and _in_words(mark) not in routine
        and not _is_void(mark, marks, points, None)
    ]
    trains = any(point.loss is not None and not _evaluates(point) for point in points)
    first, last = closing(signs, lines, trains=trains) or (None, None)
    return Ending("hint", last, None, first) if last else told


def _is_in_the_midst(word: Line | None, points: Sequence[Point], lines: Sequence[Line]) -> bool:
    """Say whether a hint, or a counter that is all there is of one, is followed by more work."""
    if word is not None:
        return is_in_the_midst(word, lines)
    end = _counted_to_the_end(points)
    return end is not None and work_goes_on_behind(_line_of(end), lines)


def _told(marks: Sequence[Marked], points: Sequence[Point]) -> Ending:
    failed = next((mark.line for mark in reversed(marks) if mark.kind == "failed"), None)
    best: Marked | None = None
    too: Marked | None = None
    routine = _routine(marks, points)
    for mark in marks:
        if mark.kind != "finished" or mark.grade in ("stage", "sign"):
            continue
        if _is_void(mark, marks, points, failed):
            continue
        if mark.grade == "hint" and (_in_words(mark) in routine or _has_steps_to_go(points)):
            continue
        if best is None or _grade(mark) >= _grade(best):
            if best is not None and best.mark != mark.mark:
                too = best if _grade(best) == _grade(mark) else None
            best = mark
    if best is not None and best.grade != "hint":
        return Ending(best.grade, best.line, failed, too.line if too else None)
    counted = _counted_to_the_end(points)
    if counted is None or failed is not None:
        return Ending(best.grade, best.line, failed) if best else Ending(failed=failed)
    after = _said_after(counted, marks, points)
    if after is None and (_may_go_on(counted) or _is_of_other_work(counted, points)):
        return Ending(best.grade, best.line, failed) if best else Ending(failed=failed)
    grade: EndGrade = "wrapper" if after else "hint"
    return Ending(grade, after or (best.line if best else None), failed)


def _grade(mark: Marked) -> int:
    return _GRADES.index(mark.grade) if mark.grade else 0


def _is_void(
    mark: Marked, marks: Sequence[Marked], points: Sequence[Point], failed: Line | None
) -> bool:
    if len(_steps_after(mark.line, points)) >= (1 if mark.grade in _LOOKS_SO else _GOES_ON):
        return True
    if any(_starts(other) and _is_behind(other.line, mark.line) for other in marks):
        return True
    if mark.grade == "trainer":
        return _is_killed_behind(mark.line, marks) and not _counted_to_the_end(points)
    return failed is not None or _was_cut(mark.line, marks, points)


def _is_killed_behind(word: Line, marks: Sequence[Marked]) -> bool:
    """Say whether something was still running behind a word, and was killed: perhaps the job."""
    return any(
        mark.kind == "exit" and mark.is_kill and _is_behind(mark.line, word) for mark in marks
    )


def _was_cut(word: Line, marks: Sequence[Marked], points: Sequence[Point]) -> bool:
    """Say whether a process failed before a word, and neither steps nor the end of all followed."""
    return any(
        mark.kind == "exit"
        and not {"", "0"}.issuperset((mark.facts.get("code", ""), mark.facts.get("signal", "")))
        and _is_behind(word, mark.line)
        and not _steps_after(mark.line, points)
        for mark in marks
    ) and not _counted_to_the_end(points)


def _routine(marks: Sequence[Marked], points: Sequence[Point]) -> set[str]:
    """The words of hints that training went on after: they will be said again."""
    hints = [mark for mark in marks if mark.grade in _LOOKS_SO]
    return {_in_words(mark) for mark in hints[:-1] if _steps_after(mark.line, points)}


def _in_words(mark: Marked) -> str:
    return _DIGITS.sub("#", mark.line.text)


def _has_steps_to_go(points: Sequence[Point]) -> bool:
    """Say whether the last counter of steps stands where more than its usual stride is left."""
    counters = [point for point in points if point.total_steps and not _evaluates(point)]
    if not counters or (not counters[-1].counts and _counts_epochs(counters[-1])):
        return False
    end = counters[-1]
    if end.counts == "epoch":
        return True
    own = [p.step or 0 for p in counters if (p.file, p.series) == (end.file, end.series)]
    stride = own[-1] - own[-2] if len(own) > 1 else 1
    return own[-1] + max(1, stride) < (end.total_steps or 0)


def _starts(mark: Marked) -> bool:
    """Say whether processes begin here; one that sets up its links has just been started."""
    return mark.kind == "start" or sets_up_links(mark)


def _is_behind(line: Line, other: Line) -> bool:
    return line.file == other.file and line.number > other.number


def _steps_after(line: Line, points: Sequence[Point]) -> set[int]:
    """Steps of series that ran before the line too; a bar that begins after it evaluates."""
    own = [point for point in points if point.file == line.file and not _evaluates(point)]
    known = {point.series for point in own if point.number <= line.number}
    return {
        point.step
        for point in own
        if point.number > line.number
        and point.step is not None
        and (point.series in known or point.loss is not None)
    }


def _counted_to_the_end(points: Sequence[Point]) -> Point | None:
    """Give the last reading, if it says that the last of all steps was made.

    A bar that is drawn anew for each epoch proves nothing; such bars show a loss, name the epoch,
    or were seen to begin again. Nor does a counter behind which another one goes on with a loss.
    """
    own = [point for point in points if point.step is not None and not _evaluates(point)]
    if len(own) < _FEWEST_STEPS:
        return None
    last = own[-1]
    counters = [point for point in own if point.total_steps is not None and point.file == last.file]
    if counters and _counts_epochs(counters[-1]) and not _is_one_bar(counters):
        counters = [point for point in counters if not _counts_epochs(point)]
    if not counters:
        return None
    end = counters[-1]
    of_end = [point for point in counters if point.series == end.series]
    reached = _is_reached(end, of_end) and not _is_drawn_again(of_end)
    onward = [p for p in own if p.file == end.file and p.number > end.number and p.loss is not None]
    if not reached or not end.step or len(onward) >= _GOES_ON:
        return None
    # A bar may be drawn once more when all is saved.
    return next(p for p in counters if (p.series, p.step) == (end.series, end.step))


def _is_reached(end: Point, own: Sequence[Point]) -> bool:
    """Say whether no further reading was to come: the next one would lie beyond the total.

    Of steps one in so many is printed, and counts from 0 end one before their total.
    """
    total = end.total_steps
    if end.step is None or total is None:
        return False
    return end.step + _left_out(end, own) >= total


def _left_out(end: Point, own: Sequence[Point]) -> int:
    """How many steps may have been made that were not printed."""
    steps = [point.step or 0 for point in own]
    stride = steps[-1] - steps[-2] if len(steps) > 1 else 0
    if steps[0] == 0 and stride == 1:
        return 1
    return stride if 0 < stride <= (end.total_steps or 0) * _SHARE_OF_A_STRIDE else 0


def _may_go_on(end: Point) -> bool:
    """Say whether the count alone proves too little: it is short of its goal, or of one bar."""
    short = (end.step or 0) + 1 < (end.total_steps or 0)
    return short or (not end.counts and _counts_epochs(end))


def _is_of_other_work(end: Point, points: Sequence[Point]) -> bool:
    """Say whether a full bar may be of the data or of one epoch: no loss was told with it."""
    return "bar" in end.series and not any(
        point.loss is not None and not _evaluates(point) for point in points
    )


def _is_one_bar(counters: Sequence[Point]) -> bool:
    """Say whether a bar with a loss was drawn once for the whole training."""
    last = counters[-1]
    steps = [point.step or 0 for point in counters if point.series == last.series]
    return (
        not last.counts and "epoch" not in last.series and len(steps) > 1 and steps == sorted(steps)
    )


def _is_drawn_again(own: Sequence[Point]) -> bool:
    """Say whether a bar came to its end and began again: one for each epoch, none for all."""
    end = own[-1]
    if "bar" not in end.series or end.counts:
        return False
    full = next((place for place, p in enumerate(own) if p.step == p.total_steps), len(own))
    return any((point.step or 0) < _BEGUN * (point.total_steps or 0) for point in own[full:])


def _counts_epochs(point: Point) -> bool:
    if point.counts:
        return point.counts in ("epoch", "some epoch")
    return "bar" in point.series and ("epoch" in point.series or "loss" in point.series)


def _evaluates(point: Point) -> bool:
    return point.series.startswith("eval")


def _line_of(point: Point) -> Line:
    return Line(point.file, point.number, raw=point.text, text=point.text, time=point.time)


def _said_after(counted: Point, marks: Sequence[Marked], points: Sequence[Point]) -> Line | None:
    """Find something saved, an evaluation or a hint behind the last step."""
    said = next(
        (
            mark.line
            for mark in reversed(marks)
            if (mark.kind == "saved" or mark.grade in _LOOKS_SO)
            and mark.line.file == counted.file
            and mark.line.number >= counted.number
        ),
        None,
    )
    evaluated = (
        _line_of(point)
        for point in reversed(points)
        if _evaluates(point)
        and point.loss is not None
        and point.file == counted.file
        and point.number > counted.number
    )
    return said or next(evaluated, None)
