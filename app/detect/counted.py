"""What a counter of steps says of the end: was the last step made, or are there steps to go?

A count may be of the whole run, of an epoch, of a fold or of the data, and seldom says of which.
What came to its end and began again counted a part; a bar that shows a loss or names an epoch may.
"""

import re
from collections.abc import Sequence

from app.counters import is_short_of_its_total, last_counter, stride
from app.detect.enclosing import begin_of_the_last, is_of_one, is_of_the_last
from app.detect.remaining import time_is_left, time_is_up
from app.model import Line, Point

_SHARE_OF_A_STRIDE = 0.05  # of the total; what is printed more seldom tells too little
_GOES_ON = 3  # readings of another counter behind a full one
_FEWEST_STEPS = 2  # readings that make a counter
_BEGUN = 0.5  # the share of a total below which a counter began anew
# Warmup epoch 5/5   [fold 2] epoch 20/20
_OF_A_PART = re.compile(r"\b(?:warm-?up|fold|sanity|calibrat\w+|auto-?tun\w+|dry[- ]?run)\b")


def has_steps_to_go(points: Sequence[Point]) -> bool:
    """Say whether the last counter of steps stands where more than its usual stride is left."""
    own = last_counter(points)
    if not own or (not own[-1].counts and _counts_epochs(own[-1])):
        return False
    if own[-1].counts == "epoch" or time_is_up(own) or time_is_left(own):
        return not time_is_up(own)
    return is_short_of_its_total(own)


def counted_to_the_end(points: Sequence[Point], lines: Sequence[Line] = ()) -> Point | None:
    """Give the last reading, if it says that the last of all steps was made.

    Of several trainings that the `lines` count only the last one matters, where it was begun.

    A bar that is drawn anew for each epoch proves nothing; such bars show a loss, name the epoch,
    or were seen to begin again. Nor does a counter behind which another one goes on with a loss.
    """
    own = [point for point in points if point.step is not None and not point.evaluates]
    begin = begin_of_the_last(own[-1].file, lines) if own else 0
    own = [point for point in own if point.file != own[-1].file or point.number >= begin]
    if len(own) < _FEWEST_STEPS:
        return None
    last = own[-1]
    of_last = [point for point in own if point.series == last.series]
    if time_is_up(of_last):
        return None if _counts_a_part(last) else last
    if time_is_left(of_last):
        return None
    counters = [point for point in own if point.total_steps is not None and point.file == last.file]
    if counters and _counts_epochs(counters[-1]) and not _is_one_bar(counters):
        counters = [point for point in counters if not _counts_epochs(point)]
    if not counters:
        return None
    end = counters[-1]
    of_end = [point for point in counters if point.series == end.series]
    reached = _is_reached(end, of_end) and not _began_again(of_end)
    onward = [p for p in own if p.file == end.file and p.number > end.number and p.loss is not None]
    if not reached or not end.step or len(onward) >= _GOES_ON or _counts_a_part(end):
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
    usual = stride(own)
    if not own[0].step and usual == 1:
        return 1
    return usual if 0 < usual <= (end.total_steps or 0) * _SHARE_OF_A_STRIDE else 0


def may_go_on(end: Point) -> bool:
    """Say whether the count alone proves too little: it is short of its goal, or of one bar."""
    short = (end.step or 0) + 1 < (end.total_steps or 0)
    return short or (not end.counts and _counts_epochs(end))


def is_of_other_work(end: Point, points: Sequence[Point]) -> bool:
    """Say whether a full bar may be of the data or of one epoch: no loss was told with it."""
    return "bar" in end.series and not any(
        point.loss is not None and not point.evaluates for point in points
    )


def _is_one_bar(counters: Sequence[Point]) -> bool:
    """Say whether a bar with a loss was drawn once for the whole training."""
    last = counters[-1]
    steps = [point.step or 0 for point in counters if point.series == last.series]
    return (
        not last.counts and "epoch" not in last.series and len(steps) > 1 and steps == sorted(steps)
    )


def _began_again(own: Sequence[Point]) -> bool:
    """Say whether a counter came to its end and began again: one for each epoch, none for all."""
    end = own[-1]
    if end.counts not in (("",) if "bar" in end.series else ("", "epochs")):
        return False
    total = end.total_steps or 0
    alike = [point.step or 0 for point in own if point.total_steps == total]
    goal = total - (min(alike) == 0)
    full = next((place for place, step in enumerate(alike) if step >= goal), len(alike))
    return any(step <= _BEGUN * total for step in alike[full + 1 :])


def _counts_a_part(end: Point) -> bool:
    """Say whether a counter calls itself one of a part; `fold 5/5` is the last of all."""
    told = _OF_A_PART.search(end.series) is not None
    return not is_of_the_last(end.text) and (told or is_of_one(end.text))


def _counts_epochs(point: Point) -> bool:
    if point.counts:
        return point.counts in ("epoch", "some epoch")
    return "bar" in point.series and ("epoch" in point.series or "loss" in point.series)


def line_of(point: Point) -> Line:
    """Give the line of a reading, as far as it was kept."""
    return Line(point.file, point.number, raw=point.text, text=point.text, time=point.time)
