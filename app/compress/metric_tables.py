"""Read rows of numbers under the header that names their columns: CSV, aligned, or ruled by `|`.

epoch,grad_norm,lr-adamw,step,train_loss_epoch,train_loss_step,val_loss
1,0.41235,,2039,,2.951201,

   iter     loss    gnorm       lr     tok/s        | epoch | train loss | valid loss |
     40   3.8123    0.512  3.0e-04    182114        |  1/12 |     1.9022 |     2.1107 |

A sentence may look like the header of an aligned table; rows of as many numbers do not follow it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.compress.metric_names import Meaning, Role, meaning

_FEWEST, _MOST = 3, 200
_LONGEST = 4096
_HEADER = re.compile(r"[a-z][\w/.-]*(?:,[a-z][\w/.-]*)+$")
_CSV_CELL = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|nan|inf)$")
# step | train loss | acc@1 | |g| | s/it
_NAME = re.compile(r"[a-z#%][\w/.%()@# -]{0,39}$")
_CELL = re.compile(r"([-+]?[0-9][0-9,]*(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|[-+]?nan|[-+]?inf)(?![\w:])")
_OF = re.compile(r"[0-9]+ ?/ ?([0-9]+)$")
_WIDE = re.compile(r"\s{2,}|\t")
_FEW_WORDS = 12  # a sentence of more is no header
_FIRST_COLUMNS = 3  # among which the step stands, where commas do not prove a table

_Split = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Row:
    """One row's readings; `column` names the loss, or what else makes the row worth a point."""

    column: str
    evaluates: bool
    step: str | None
    total: str | None
    loss: str | None
    grad_norm: str | None


@dataclass(frozen=True, slots=True)
class Table:
    """Columns by meaning, the best first: rows are sparse, and of several kinds."""

    kind: str
    names: tuple[str, ...]
    step: int
    losses: tuple[int, ...]
    evals: tuple[int, ...]
    norms: tuple[int, ...]

    def row(self, text: str) -> Row | None:
        """Read a row in lower case; None for other lines and rows without loss and norm."""
        cells = self._cells(text)
        if cells is None:
            return None
        loss = next((i for i in self.losses if cells[i]), -1)
        held = next((i for i in self.evals if cells[i]), -1)
        norm = next((i for i in self.norms if cells[i]), -1)
        told = loss if loss >= 0 else norm if norm >= 0 else held
        if told < 0:
            return None
        evaluates = told == held
        value = told if told != norm else -1
        step, _, total = cells[self.step].partition("/")
        return Row(
            column=self.names[told],
            evaluates=evaluates,
            step=step or None,
            total=total or None,
            loss=cells[value] if value >= 0 else None,
            grad_norm=cells[norm] if norm >= 0 and not evaluates else None,
        )

    def _cells(self, text: str) -> list[str] | None:
        if self.kind == "csv":
            cells = text.strip().split(",")
            known = len(cells) == len(self.names) and all(
                not cell or _CSV_CELL.match(cell) for cell in cells
            )
            return cells if known else None
        if not _begins_like_a_row(text):
            return None
        splits = (_ruled,) if self.kind == "ruled" else (str.split, _wide)
        for split in splits:
            read = [_number_of(cell) for cell in split(text)][: len(self.names)]
            if len(read) == len(self.names) and self._is_row(read):
                return read
        return None

    def _is_row(self, cells: Sequence[str]) -> bool:
        """Say whether step and loss are there, and most else: sentences may begin with a count."""
        losses = any(cells[i] for i in (*self.losses, *self.evals))
        return bool(cells[self.step]) and losses and sum(map(bool, cells)) * 2 >= len(cells)


def _begins_like_a_row(text: str) -> bool:
    return text.lstrip(" \t|")[:1].isdecimal()


def _number_of(cell: str) -> str:
    """Take the number of a cell, `1/12` as a count and its goal, and nothing of other words."""
    cell = cell.strip()
    if _OF.match(cell):
        return cell.replace(" ", "")
    match = _CELL.match(cell)
    return match[1] if match else ""


def table(text: str) -> Table | None:
    """Take a line, in lower case, as the header of a table if it names a step and a loss."""
    line = text.strip()
    if len(line) > _LONGEST:
        return None
    if _HEADER.match(line):
        return _table("csv", tuple(line.split(",")))
    if line.count("|") >= 2:
        return _table("ruled", tuple(_ruled(line)))
    words = line.split()
    if _WIDE.search(line):
        return _table("aligned", tuple(_wide(line)))
    return _table("aligned", tuple(words)) if len(words) <= _FEW_WORDS else None


def _ruled(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _wide(line: str) -> list[str]:
    return _WIDE.split(line.strip())


def _table(kind: str, names: tuple[str, ...]) -> Table | None:
    if not _FEWEST <= len(names) <= _MOST or not all(map(_NAME.match, names)):
        return None
    found = [(i, meaning(name, "")) for i, name in enumerate(names)]
    by_weight = sorted(found, key=lambda item: -(item[1].weight if item[1] else 0))
    steps = _of_role(by_weight, "step") or (_of_role(by_weight, "epoch") if kind != "csv" else [])
    losses = _of_role(by_weight, "policy_loss", "loss")
    # train_loss_epoch: no reading of a step, yet better than none
    losses += [i for i in _of_role(found, "other_loss") if "train" in names[i]]
    evals = _of_role(found, "eval_loss")
    if not steps or not (losses or evals) or (kind != "csv" and steps[0] >= _FIRST_COLUMNS):
        return None
    norms = _of_role(by_weight, "grad_norm")
    return Table(kind, names, steps[0], tuple(losses), tuple(evals), tuple(norms))


def _of_role(found: Sequence[tuple[int, Meaning | None]], *roles: Role) -> list[int]:
    return [i for i, told in found if told is not None and told.role in roles]
