"""How an attempt ended: does anybody say that the job finished, and does that word stand?

The trainer's own word counts most, a wrapper's less (`echo done` after a crash), and a line that
merely looks like an end least. A word falls when training goes on after it, when the job starts
again, where training begins once more in the words that it began with, where it is of a part
(`app.detect.parts`) or of one of several trainings (`app.detect.enclosing`), where it was belied
before (`app.detect.repeated`), or, if no counter came to its end, where something is killed behind
it; unless the trainer gave it, also when a launcher reports a failure or a process died before it.
A counter that reached its total (`app.detect.counted`) is a hint by itself; with something saved or
a hint after it, it is worth a wrapper's word. Nothing is a hint behind a counter that has steps to
go. What any work may print when it is done (a duration, results that were written) is a sign:
`app.detect.closing` weighs several together.
"""

import re
from collections.abc import Sequence

from app.detect.appended import sets_up_links
from app.detect.closing import (
    closing,
    is_cut_short,
    is_in_the_midst,
    trains_again_behind,
    work_goes_on_behind,
)
from app.detect.counted import (
    counted_to_the_end,
    has_steps_to_go,
    is_of_other_work,
    line_of,
    may_go_on,
)
from app.detect.enclosing import (
    epochs_are_to_come,
    more_are_to_come,
    others_are_promised,
    that_count,
)
from app.detect.evaluated import evaluation_of_the_last_epoch, is_evaluating
from app.detect.parts import speaks_for_a_part
from app.detect.repeated import in_words, routine
from app.model import EndGrade, Ending, Line, Marked, Point

_GRADES = ("stage", "sign", "hint", "wrapper", "trainer")
_LOOKS_SO = ("stage", "sign", "hint")
_OF_EVALUATION = re.compile(r"\b(?:eval(?:uation)?|validation|benchmark)\b", re.IGNORECASE)
_GOES_ON = 3  # steps after an end mark that take its word away; one does for a hint
_BEGUN = 0.5  # the share of the highest step below which a counter began anew


def ending(
    marks: Sequence[Marked],
    points: Sequence[Point],
    lines: Sequence[Line] = (),
    whole: Sequence[Line] = (),
    counting: Sequence[Line] | None = None,
) -> Ending:
    """Weigh the end marks of one attempt; `lines` are its kept lines, `whole` those of the log.

    `counting` are those `that_count` of the log, which has many attempts and is read for them once.
    """
    everywhere = whole or lines
    counted = that_count(everywhere) if counting is None else counting
    told = _told(marks, points, lines)
    if told.finished == "hint" and _is_in_the_midst(told.line, points, lines):
        told = Ending(failed=told.failed)
    if told.finished != "trainer" and told.line is not None and is_cut_short(told.line, lines):
        return Ending(failed=told.failed)
    if told.line is not None and trains_again_behind(told.line, lines):
        return Ending(failed=told.failed)
    file = told.line.file if told.line else points[-1].file if points else 0
    if told.finished is not None and more_are_to_come(file, lines, counted, points):
        return Ending(failed=told.failed)
    if told.line is not None and others_are_promised(told.line, everywhere, marks, counted):
        return Ending(failed=told.failed)
    if told.finished is not None or told.failed is not None or has_steps_to_go(points):
        return told
    if epochs_are_to_come(file, lines):
        return told
    often = _routine(marks, points, lines)
    signs = [
        mark
        for mark in marks
        if mark.grade in _LOOKS_SO
        and in_words(mark) not in often
        and not _is_void(mark, marks, points, lines, None)
    ]
    trains = any(point.loss is not None and not point.evaluates for point in points)
    first, last = closing(signs, lines, trains=trains) or (None, None)
    return Ending("hint", last, None, first) if last else told


def _is_in_the_midst(word: Line | None, points: Sequence[Point], lines: Sequence[Line]) -> bool:
    """Say whether a hint, or a counter that is all there is of one, is followed by more work."""
    if word is not None:
        return is_in_the_midst(word, lines)
    end = counted_to_the_end(points, lines)
    return end is not None and work_goes_on_behind(line_of(end), lines)


def _told(marks: Sequence[Marked], points: Sequence[Point], lines: Sequence[Line]) -> Ending:
    failed = next((mark.line for mark in reversed(marks) if mark.kind == "failed"), None)
    best: Marked | None = None
    too: Marked | None = None
    often = _routine(marks, points, lines)
    for mark in marks:
        if mark.kind != "finished" or mark.grade in ("stage", "sign"):
            continue
        if _is_void(mark, marks, points, lines, failed) or in_words(mark) in often:
            continue
        if speaks_for_a_part(mark.line, points, lines):
            continue
        if mark.grade == "hint" and _are_to_come(mark.line, points, lines):
            continue
        if mark.grade == "wrapper" and _is_of_evaluation(mark.line, points):
            continue
        if best is None or _grade(mark) >= _grade(best):
            if best is not None and best.mark != mark.mark:
                too = best if _grade(best) == _grade(mark) else None
            best = mark
    if best is not None and best.grade != "hint":
        return Ending(best.grade, best.line, failed, too.line if too else None)
    counted = counted_to_the_end(points, lines) or evaluation_of_the_last_epoch(points)
    if counted is None or failed is not None or speaks_for_a_part(line_of(counted), points, lines):
        return Ending(best.grade, best.line, failed) if best else Ending(failed=failed)
    after = _said_after(counted, marks, points)
    too_little = counted.evaluates or may_go_on(counted) or is_of_other_work(counted, points)
    if is_evaluating(counted, after, points) or (after is None and too_little):
        return Ending(best.grade, best.line, failed) if best else Ending(failed=failed)
    grade: EndGrade = "wrapper" if after else "hint"
    return Ending(grade, after or (best.line if best else None), failed)


def _is_of_evaluation(word: Line, points: Sequence[Point]) -> bool:
    return _OF_EVALUATION.search(word.text) is not None and has_steps_to_go(points)


def _are_to_come(word: Line, points: Sequence[Point], lines: Sequence[Line]) -> bool:
    return has_steps_to_go(points) or epochs_are_to_come(word.file, lines)


def _grade(mark: Marked) -> int:
    return _GRADES.index(mark.grade) if mark.grade else 0


def _is_void(
    mark: Marked,
    marks: Sequence[Marked],
    points: Sequence[Point],
    lines: Sequence[Line],
    failed: Line | None,
) -> bool:
    if len(_steps_after(mark.line, points)) >= (1 if mark.grade in _LOOKS_SO else _GOES_ON):
        return True
    if _counts_anew_behind(mark.line, points):
        return True
    if any(_starts(other) and _is_behind(other.line, mark.line) for other in marks):
        return True
    if mark.grade == "trainer":
        return _is_killed_behind(mark.line, marks) and not counted_to_the_end(points, lines)
    return failed is not None or _was_cut(mark.line, marks, points, lines)


def _is_killed_behind(word: Line, marks: Sequence[Marked]) -> bool:
    """Say whether something was still running behind a word, and was killed: perhaps the job."""
    return any(
        mark.kind == "exit" and mark.is_kill and _is_behind(mark.line, word) for mark in marks
    )


def _was_cut(
    word: Line, marks: Sequence[Marked], points: Sequence[Point], lines: Sequence[Line]
) -> bool:
    """Say whether a process failed before a word, and neither steps nor the end of all followed."""
    return any(
        mark.kind == "exit"
        and not {"", "0"}.issuperset((mark.facts.get("code", ""), mark.facts.get("signal", "")))
        and _is_behind(word, mark.line)
        and not _steps_after(mark.line, points)
        for mark in marks
    ) and not counted_to_the_end(points, lines)


def _routine(marks: Sequence[Marked], points: Sequence[Point], lines: Sequence[Line]) -> set[str]:
    hints = [mark for mark in marks if mark.grade in _LOOKS_SO]
    belied = {in_words(mark) for mark in hints[:-1] if _steps_after(mark.line, points)}
    return routine(marks, points, lines, belied)


def _starts(mark: Marked) -> bool:
    """Say whether processes begin here; one that sets up its links has just been started."""
    return mark.kind == "start" or sets_up_links(mark)


def _is_behind(line: Line, other: Line) -> bool:
    return line.file == other.file and line.number > other.number


def _steps_after(line: Line, points: Sequence[Point]) -> set[int | str]:
    """Steps of series that ran before the line too; a bar that begins after it evaluates.

    A loss without a number of its step is one as well.
    """
    own = [point for point in points if point.file == line.file and not point.evaluates]
    known = {point.series for point in own if point.number <= line.number}
    return {
        point.text if point.step is None else point.step
        for point in own
        if point.number > line.number
        and (point.loss is not None or (point.step is not None and point.series in known))
    }


def _counts_anew_behind(word: Line, points: Sequence[Point]) -> bool:
    """Say whether a series with a loss begins from a low step again: another run."""
    highest: dict[str, int] = {}
    for point in points:
        if point.file != word.file or point.step is None or point.loss is None or point.evaluates:
            continue
        if point.number <= word.number:
            highest[point.series] = max(highest.get(point.series, 0), point.step)
        elif "bar" not in point.series and point.step < _BEGUN * highest.get(point.series, 0):
            return True
    return False


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
        line_of(point)
        for point in reversed(points)
        if point.evaluates
        and point.loss is not None
        and point.file == counted.file
        and point.number > counted.number
    )
    return said or next(evaluated, None)
