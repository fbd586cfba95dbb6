"""What neighbouring lines say of a metric line: the step of a bar, the head of a block.

311/680 [10:31<12:29, 2.03s/it]             the bar of the trainer, or of an evaluation
{'loss': 1.4596, 'grad_norm': 2.41}         a dict without a step

[step=48244/739328,epoch=0]                 a head
    optim/total_grad_norm=0.2101            its lines
    train/CrossEntropyLoss=2.412
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from app.compress.metrics import Recipe
from app.model import Point

_REACH = 64  # lines from a line of a block to the next
_MOST_BARS = 16
#     optim/total_grad_norm=0.2101
_ONE_PAIR = re.compile(r"[^:=|,]{1,80}(?:=|: ?)[^\s:=|,]{1,30}$")


class Place(NamedTuple):
    """Where a line stands, when and by whom it was printed, and what it said."""

    file: int
    number: int
    rank: int | None
    time: float | None
    text: str


@dataclass(slots=True)
class Block:
    """A head line and what the lines below it told; of several losses the weightiest stays."""

    head: Recipe
    place: Place
    step: int | None
    total: int | None
    last: int
    epoch: int | None = None
    epochs: int | None = None
    told: bool = False
    loss: float | None = None
    loss_key: str = ""
    loss_weight: int = -1
    grad_norm: float | None = None
    seconds: float | None = None

    def holds(self, text: str, number: int) -> bool:
        """Say whether a line belongs to the block."""
        near = number - self.last <= _REACH
        return near and (text[:1] in " \t" or _ONE_PAIR.match(text) is not None)

    def add(
        self,
        how: Recipe,
        place: Place,
        *,
        loss: float | None,
        grad_norm: float | None,
        seconds: float | None,
    ) -> None:
        """Take what a line of the block tells."""
        if how.loss and how.loss_weight > self.loss_weight:
            self.loss, self.loss_key, self.loss_weight = loss, how.loss_key, how.loss_weight
            self.place = place._replace(time=place.time or self.place.time)
        if how.grad_norm and self.grad_norm is None:
            self.grad_norm = grad_norm
        if self.seconds is None:
            self.seconds = seconds

    def point(self) -> Point | None:
        """Make one point of the block; None if its lines made their own, or it is no metric."""
        shown = self.head.framed and self.step is not None
        if self.told or not (shown or self.loss_weight >= 0 or self.grad_norm is not None):
            return None
        return Point(
            file=self.place.file,
            number=self.place.number,
            series=f"{self.head.series} {self.loss_key}".rstrip(),
            time=self.place.time,
            rank=self.place.rank,
            step=self.step,
            total_steps=self.total,
            loss=self.loss,
            grad_norm=self.grad_norm,
            step_seconds=self.seconds,
            text=self.place.text,
        )


@dataclass(slots=True)
class Memory:
    """What earlier lines of one printer said; a bar without a name is known by its total."""

    block: Block | None = None
    _steps: dict[int, int] = field(default_factory=dict)
    _last_total: int | None = None
    _trained: set[int] = field(default_factory=set)
    _evaluated: set[int] = field(default_factory=set)

    def see_bar(self, step: int, total: int) -> None:
        """Note the state of a bar that has no name."""
        self._steps.pop(total, None)
        self._steps[total] = step
        if len(self._steps) > _MOST_BARS:
            self._steps.pop(next(iter(self._steps)))
        self._last_total = total

    def step_of_dict(self, *, evaluates: bool) -> tuple[int | None, int | None]:
        """Say at which step, of how many, the trainer printed a dict, as its bar shows it.

        A dict of training losses follows the trainer's bar, one of an evaluation the bar of that.
        """
        last = self._last_total
        if last is not None:
            if evaluates:
                self._evaluated.add(last)
            elif not self._is_of_eval(last):
                self._trained.add(last)
        shown = [total for total in self._steps if total in self._trained]
        total = shown[-1] if shown else last
        return (None, None) if total is None else (self._steps.get(total), total)

    def forget_bars(self) -> None:
        """Lines are left out from here: what the bars showed is out of date."""
        self._steps.clear()
        self._last_total = None

    def is_of_training(self, total: int) -> bool:
        """Say whether a bar was the trainer's, as far as dicts of losses told."""
        return total in self._trained or not (self._trained or total in self._evaluated)

    def _is_of_eval(self, total: int) -> bool:
        return total in self._evaluated and total not in self._trained
