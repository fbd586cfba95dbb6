"""Tell the last step of a run from any other, where only the configuration says how many there are.

max_iters = 2000                                 as a program prints its settings
iter 2000: loss 3.1718, time 1010.25ms           its last reading, which names no total

So it is with epochs that have a line each: `num_epochs: 30`, and at last `[epoch 30] loss=0.6`.
Settings hold several such numbers (of a schedule, of an evaluation), so none is believed before a
series ends at it.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from app.model import Point

_MOST = 16


class Goals:
    """The numbers of steps that one file announced."""

    def __init__(self) -> None:
        self._announced: set[int] = set()
        self._epochs: set[int] = set()

    @property
    def epochs(self) -> int | None:
        """The number of epochs, if only one was announced."""
        return next(iter(self._epochs)) if len(self._epochs) == 1 else None

    def see(self, goal: int | None) -> None:
        """Note a number of steps that is planned."""
        if goal and len(self._announced) < _MOST:
            self._announced.add(goal)

    def see_epochs(self, goal: int | None) -> None:
        """Note a number of epochs that is planned."""
        if goal and len(self._epochs) < _MOST:
            self._epochs.add(goal)

    def told(self, points: Sequence[Point]) -> list[Point]:
        """Give the points, and the last of each series a total if it ends at what was announced."""
        rows: dict[tuple[int | None, str], list[Point]] = {}
        for point in points:
            if point.step is not None:
                rows.setdefault((point.rank, point.series), []).append(point)
        ends = {own[-1] for own in rows.values() if _is_at_its_end(own, self._goals_of(own))}
        return [replace(p, total_steps=p.step) if p in ends else p for p in points]

    def _goals_of(self, own: Sequence[Point]) -> Collection[int]:
        return self._epochs if own[-1].counts == "epochs" else self._announced


def _is_at_its_end(own: Sequence[Point], goals: Collection[int]) -> bool:
    """Say whether no further reading was to come: steps from 0 on end before their number.

    Of these one in so many is printed.
    """
    steps = [point.step for point in own if point.step is not None]
    last = steps[-1]
    apart = last - steps[-2] if len(steps) > 1 and steps[0] == 0 else 0
    known = own[-1].total_steps is not None
    return not known and any(last <= goal <= last + max(1, apart) for goal in goals)
