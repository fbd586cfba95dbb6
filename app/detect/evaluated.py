"""Evaluations that name their epoch: `***** Evaluating perplexity, Epoch 2/2 *****`.

That of the last epoch begins when the last step was made.
"""

from collections.abc import Sequence

from app.model import Point


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
