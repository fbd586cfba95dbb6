"""Work out, once for each shape of line, which of its numbers is the step, the loss, the norm.

A line falls into numbers and the texts between them; lines of one kind differ in the numbers
alone. So the texts are studied once, and the recipe that comes of it reads every later line of
the kind by position. A recipe knows nothing of values: whether a step is whole or a loss finite
is for the reader to see.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.compress.metric_bars import bar_named, is_keras_bar
from app.compress.metric_fields import Field, weight
from app.compress.metric_head import (
    MLLOG,
    is_evaluation,
    named_with,
    names_an_evaluation,
    role_of,
    words_before,
)
from app.compress.metric_shape import Shape, counts_over_epochs

_FLAGS_OF_SETTINGS = 3
_LOGGED_SCALE = "parameter loss_scale :"  # as DLLogger prints it, not a list of settings

# {'train_runtime': 1310.2, … 'train_loss': 1.41} | --max_steps 1000 | saved checkpoint at step 20
# slurmstepd: error: *** STEP 4711.0 ON gpu-3 CANCELLED AT 2026-03-04T11:12:13 ***
_NOT_METRICS = re.compile(
    r"train_runtime|final_loss|namespace\(|arguments?\(|config\(|\bwandb: |(?:^|\s)--[a-z]|"
    r"\bsav(?:ed|ing)\b|\bdef |\bimport |\braise |\bassert |\bself\.| [<>=+]= |"
    r"\w(?:error|exception|warning): |\bs(?:run|batch|lurm\w*): |\*\*\* (?:job|step) #|\bjob ?step|"
    r"^\s*file \""
)
# Config(max_steps=300, lr=0.001) | --train-iters 5000 | {'num_train_steps': 300, 'debug': false
_GOAL_AMONG_SETTINGS = re.compile(
    r"(?<![a-z])(?:(?:max|total|num|n)[_-])?(?:train(?:ing)?[_-])?(?:steps|iters|iterations)"
    r"[\"']?(?:[=:] ?| )#(?![.,]?#)"
)
# max: 12 epochs | num_epochs = 30 | Num Epochs = 3 | max_epoch=300 | 'epochs': 50
_EPOCHS_AMONG_SETTINGS = re.compile(
    r"\bmax: #(?= epochs)|"
    r"(?:(?<![a-z])(?:max|total|num|n)[ _-]?(?:train(?:ing)?[ _-])?epochs?|(?<![a-z_-])epochs)"
    r"[\"']?(?: ?[=:] ?)#(?![.,/]?#|/)"
)
_FLAG = re.compile(r"\b(?:true|false)\b")
# train loss : 0.21 | val loss 11.009654
_ALONE = re.compile(r"(?:(?:train(?:ing)?|val(?:idation)?|eval)[ _])?loss(?: *: *|=)#$|val loss #$")


@dataclass(frozen=True, slots=True)
class Recipe:
    """Where the quantities stand among a line's parts; 0 for those that it does not give.

    `alone` says that the line makes sense by itself, `opens` that it names a step for the lines
    below, `framed` that it does nothing else; `quoted` that it is a dict, whose step a bar told.
    `counted` is the number that `total` belongs to, if that is not the step. `goal` is the number
    of steps that a line of the configuration plans, `goal_epochs` that of epochs, and such a line
    gives nothing else. `epochs` is the number that `epoch` runs to; `by_epoch` says that the step
    is the epoch itself.
    """

    series: str
    alone: bool = True
    opens: bool = False
    framed: bool = False
    quoted: bool = False
    evaluates: bool = False
    plain_bar: bool = False
    step: int = 0
    total: int = 0
    counted: int = 0
    epoch: int = 0
    epochs: int = 0
    by_epoch: bool = False
    loss: int = 0
    loss_key: str = ""
    loss_weight: int = 0
    grad_norm: int = 0
    loss_scale: int = 0
    seconds: int = 0
    divisor: float = 1.0
    inverted: bool = False
    goal: int = 0
    goal_epochs: int = 0


def recipe(texts: Sequence[str]) -> Recipe | None:
    """Find out how to read lines that have these texts between their numbers.

    None for lines that report no progress.
    """
    whole = "#".join(texts)
    if len(texts) < 2:
        return None
    epochs = None if "loss" in whole else _EPOCHS_AMONG_SETTINGS.search(whole)
    if epochs is not None:
        return _planned(whole, _part(whole.count("#", 0, epochs.end() - 1)))
    if _NOT_METRICS.search(whole) or len(_FLAG.findall(whole)) >= _FLAGS_OF_SETTINGS:
        return _planned(whole)
    if ":::mllog" in whole and not MLLOG.search(whole):
        return None
    return _Study(Shape(texts)).recipe()


def _planned(whole: str, epochs: int = 0) -> Recipe | None:
    """Find the number of steps among settings that are printed in a row, or on one line each."""
    setting = _GOAL_AMONG_SETTINGS.search(whole)
    if setting is None:
        return Recipe("goal", goal_epochs=epochs) if epochs else None
    goal = _part(whole.count("#", 0, setting.end() - 1))
    return Recipe("goal", goal=goal, goal_epochs=epochs)


class _Study:
    """The one look at a new shape."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    def recipe(self) -> Recipe | None:
        best = self._shape.best
        loss = best.get("policy_loss") or best.get("loss") or best.get("eval_loss")
        if self._shape.bar >= 0:
            return self._of_bar(loss)
        if loss is not None:
            return self._of_loss(loss)
        return None if "%|" in self._shape.whole else self._without_loss()

    def _of_bar(self, loss: Field | None) -> Recipe | None:
        shape = self._shape
        bar = bar_named("#".join(shape.texts[: shape.bar + 1]), has_loss=loss is not None)
        if bar is None:
            return None
        told = self._recipe(bar.series, loss)
        evaluates = bar.evaluates or role_of(loss) == "eval_loss"
        return replace(
            told,
            series=f"eval {bar.series}" if evaluates else bar.series,
            evaluates=evaluates,
            plain_bar=bar.nameless,
            quoted=False,
        )

    def _of_loss(self, loss: Field) -> Recipe:
        shape = self._shape
        if is_keras_bar(shape.whole):
            return replace(self._recipe("bar loss", loss), plain_bar=True)
        evaluates = is_evaluation(shape, loss)
        if evaluates:
            head = words_before(shape)
            series = f"eval {head}" if loss.key in head else f"eval {head} {loss.key}"
        elif shape.is_rl:
            series = f"rl {named_with(words_before(shape, to_step=True), loss)}"
        else:
            series = named_with(words_before(shape), loss)
        alone = (
            shape.step >= 0
            or loss.quoted
            or shape.has("step", "pace", "epoch", "rate", "grad_norm")
            or shape.is_told_by("seconds")
            or _ALONE.match(shape.whole.rstrip()) is not None
        )
        return replace(self._recipe(series, loss), alone=alone, evaluates=evaluates)

    def _without_loss(self) -> Recipe | None:
        """Steps with a norm or a pace, losses of precision, head lines, lines of a block."""
        shape = self._shape
        stepped = shape.step >= 0
        told = shape.has("grad_norm", "rate", "pace", "reward", "skipped")
        if stepped and (told or shape.is_told_by("seconds") or shape.is_score_of_epoch):
            head = words_before(shape, to_step=shape.is_rl)
            if names_an_evaluation(head):
                return replace(self._recipe(f"eval {head}"), evaluates=True)
            return self._recipe(f"rl {head}" if shape.is_rl else head)
        scale, rate = shape.best.get("loss_scale"), shape.best.get("rate")
        if scale is not None and (weight(scale) != 3 or _LOGGED_SCALE in shape.whole):
            return self._recipe(words_before(shape) or scale.key)
        if rate is not None and rate.key.startswith("global_step"):
            return self._recipe(rate.key)
        step = shape.best.get("step")
        if step is not None and step.index == shape.step:
            _, bracket, inside = shape.texts[shape.step].rpartition("[")
            framed = bool(bracket) and "]" not in inside or counts_over_epochs(step)
            framed = framed and shape.total >= 0
            return replace(
                self._recipe(words_before(shape)), alone=False, opens=True, framed=framed
            )
        if shape.is_epoch_alone:
            return replace(self._recipe("epoch"), alone=False, opens=True)
        if shape.counts_epochs and shape.total >= 0 and names_an_evaluation(words_before(shape)):
            return replace(self._recipe(f"eval {words_before(shape)}"), evaluates=True)
        if shape.has("grad_norm", "rate"):
            return replace(self._recipe(words_before(shape)), alone=False)
        goal = shape.best.get("goal")
        if goal is not None and shape.step < 0:
            return Recipe("goal", goal=_part(goal.index))
        return None

    def _recipe(self, series: str, loss: Field | None = None) -> Recipe:
        shape = self._shape
        seconds, rate = shape.best.get("seconds"), shape.best.get("rate")
        inverted = rate is not None and (seconds is None or weight(seconds) < weight(rate))
        pace = rate if inverted else seconds
        return Recipe(
            series=" ".join(series.split()),
            quoted=loss is not None and loss.quoted,
            step=_part(shape.step),
            total=_part(shape.total),
            counted=_part(shape.counted),
            epoch=_part(shape.epoch),
            epochs=_part(shape.epochs),
            by_epoch=shape.counts_epochs,
            loss=_part_of(loss),
            loss_key=loss.key if loss else "",
            loss_weight=weight(loss) if loss else 0,
            grad_norm=_part_of(shape.best.get("grad_norm")),
            loss_scale=_part_of(shape.best.get("loss_scale")),
            seconds=_part_of(pace),
            divisor=pace.meaning.divisor if pace and pace.meaning else 1.0,
            inverted=inverted,
        )


def _part(index: int) -> int:
    return 2 * index + 1 if index >= 0 else 0


def _part_of(field: Field | None) -> int:
    return _part(field.index) if field else 0
