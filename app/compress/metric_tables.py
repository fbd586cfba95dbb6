"""Read rows of a CSV log under the header that names their columns."""

import re
from dataclasses import dataclass

from app.compress.metric_names import meaning

_FEWEST, _MOST = 3, 200
_HEADER = re.compile(r"[a-z][\w/.-]*(?:,[a-z][\w/.-]*)+$")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|nan|inf)$")


@dataclass(frozen=True, slots=True)
class Row:
    """One row's readings; `column` names the loss, or what else makes the row worth a point."""

    column: str
    evaluates: bool
    step: str | None
    loss: str | None
    grad_norm: str | None


@dataclass(frozen=True, slots=True)
class Table:
    """Columns by meaning, the best first: rows are sparse, and of several kinds.

    epoch,grad_norm,lr-adamw,step,train_loss_epoch,train_loss_step,val_loss
    1,0.41235,,2039,,2.951201,
    """

    names: tuple[str, ...]
    step: int
    losses: tuple[int, ...]
    evals: tuple[int, ...]
    norms: tuple[int, ...]

    def row(self, text: str) -> Row | None:
        """Read a row in lower case; None for other lines and rows without loss and norm."""
        cells = text.strip().split(",")
        if len(cells) != len(self.names) or not all(
            not cell or _NUMBER.match(cell) for cell in cells
        ):
            return None
        loss = next((i for i in self.losses if cells[i]), -1)
        held = next((i for i in self.evals if cells[i]), -1)
        norm = next((i for i in self.norms if cells[i]), -1)
        told = loss if loss >= 0 else norm if norm >= 0 else held
        if told < 0:
            return None
        evaluates = told == held
        value = told if told != norm else -1
        return Row(
            column=self.names[told],
            evaluates=evaluates,
            step=cells[self.step] or None,
            loss=cells[value] if value >= 0 else None,
            grad_norm=cells[norm] if norm >= 0 and not evaluates else None,
        )


def table(text: str) -> Table | None:
    """Take a line, in lower case, as the header of a table if it names a step and a loss."""
    line = text.strip()
    if len(line) > 4096 or not _HEADER.match(line):
        return None
    names = tuple(line.split(","))
    if not _FEWEST <= len(names) <= _MOST:
        return None
    found = [(i, meaning(name, "")) for i, name in enumerate(names)]
    by_weight = sorted(found, key=lambda item: -(item[1].weight if item[1] else 0))
    steps = [i for i, m in by_weight if m and m.role == "step"]
    losses = [i for i, m in by_weight if m and m.role in ("policy_loss", "loss")]
    # train_loss_epoch: no reading of a step, yet better than none
    losses += [i for i, m in found if m and m.role == "other_loss" and "train" in names[i]]
    evals = [i for i, m in found if m and m.role == "eval_loss"]
    if not steps or not (losses or evals):
        return None
    norms = [i for i, m in by_weight if m and m.role == "grad_norm"]
    return Table(names, steps[0], tuple(losses), tuple(evals), tuple(norms))
