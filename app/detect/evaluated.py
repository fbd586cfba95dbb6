"""Evaluations that name their epoch: `***** Evaluating perplexity, Epoch 2/2 *****`.

That of the last epoch begins when the last step was made.
"""

from collections.abc import Sequence

from app.model import Line, Point


def evaluation_of_the_last_epoch(points: Sequence[Point]) -> Point | None:
    """Give the reading that names the last epoch, if no step of training stands behind it.

    An earlier epoch must have been evaluated in the same words, or the count may be of anything.
    """
    own = [point for point in points if point.counts == "epochs" and point.evaluates]
    if not own or own[-1].step != own[-1].total_steps:
        return None
    last = own[-1]
    before = [
        p
        for p in own
        if (p.file, p.series, p.total_steps) == (last.file, last.series, last.total_steps)
    ]
    trained = [p for p in points if p.file == last.file and not p.evaluates]
    if not trained or trained[-1].number > last.number:
        return None
    return last if any(point.step != last.step for point in before) else None


def is_evaluating(counted: Point, after: Line | None, points: Sequence[Point]) -> bool:
    """Say whether an evaluation behind the last step of training has batches to go.

    What was said `after` it shows that it came to its end.
    """
    own = [
        p for p in points if p.evaluates and p.file == counted.file and p.number > counted.number
    ]
    bars = [point for point in own if point.total_steps and point.counts != "epochs"]
    if not bars or (after is not None and after.number > bars[-1].number):
        return False
    return (bars[-1].step or 0) + 1 < (bars[-1].total_steps or 0)
