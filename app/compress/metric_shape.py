"""A kind of line, by the texts between its numbers: what each is, and which counts the steps.

A step may have a name (`iteration 120/5000`), be a bare count with its goal (`] 20/20000 |`), be
shown by a bar, or stand first in the line. Where several can be read, a count over all epochs is
the step, and the goal is that of the count next to it.
"""

import re
from collections.abc import Sequence
from functools import cached_property

from app.compress.metric_bars import counts_steps
from app.compress.metric_fields import Field, fields, weight
from app.compress.metric_names import Role

_OF = ("/", "of", "out of")
_NO_PROGRESS = re.compile(
    r"(?:^|[^a-z])(?:epochs?|rank|gpus?|nodes?|workers?|shards?|files?|fold|attempt|retry|try|mem|"
    r"memory|core|part|size)$"
)
# epoch:  12   Epoch: 01 | Epoch Time: 1m 24s
_EPOCH_ALONE = re.compile(
    r"\s*epoch[: ] *#(?:/#)?:?\s*(?:\| *(?:epoch )?time: *#(?:[:. hmin]{1,5}#)*[ s]*)?$"
)
# Epoch: [100/100],Val_PSNR: 63.28   epoch 3/10 - accuracy 0.91
_SCORE = re.compile(
    r"(?<![a-z])(?:acc|accuracy|psnr|ssim|f1|auc|auroc|map|m?iou|dice|bleu|cer|wer|mae|mse|rmse|"
    r"top-?#|score)(?:[ _-]?score)?\)?[\"']? ?[:=]? ?#"
)
# <00910> ce 2.31   [ 120] loss 2.31   120: loss=2.31   120 | ce 2.31
_NUMBER_FIRST = re.compile(r"\s*(?:[\[(<#]\s*)?#\s?(?:[\])>:|]|updates|\s)\s*[a-z|(\[]")
_GLOBAL = 50  # the weight from which a step counts over epochs


class Shape:
    """What can be told of a line from its texts alone; numbers are counted from 0, -1 is none."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.whole = "#".join(texts)
        self.fields = {field.index: field for field in fields(texts)}
        self.best: dict[Role, Field] = {}
        for field in self.fields.values():
            if field.meaning is not None:
                known = self.best.get(field.meaning.role)
                if known is None or weight(field) > weight(known):
                    self.best[field.meaning.role] = field
        self.step, self.total, self.counted = self._progress()
        goal = self.best.get("goal")
        if goal is not None and self.step >= 0 and self.total < 0:
            self.total = goal.index  # "step": 20, "max_steps": 400

    def has(self, *roles: Role) -> bool:
        """Say whether any of these quantities is given."""
        return any(role in self.best for role in roles)

    @property
    def is_rl(self) -> bool:
        """Say whether this reports reinforcement learning."""
        return self.has("policy_loss", "reward") or (self.has("divergence") and self.has("entropy"))

    def is_told_by(self, role: Role) -> bool:
        """Say whether a quantity is given with its name, not guessed from a unit."""
        found = self.best.get(role)
        return found is not None and weight(found) >= 2

    @cached_property
    def bar(self) -> int:
        """The number of the percentage of a bar that counts steps."""
        for index, text in enumerate(self.texts):
            if text.startswith("%|") and index and self._is_pair(index):
                return index - 1 if counts_steps(self.whole) else -1
        return -1

    @property
    def is_epoch_alone(self) -> bool:
        """Say whether the line names an epoch and nothing else."""
        return _EPOCH_ALONE.match(self.whole) is not None

    @property
    def epoch(self) -> int:
        """The number of the epoch, where steps may begin anew with it."""
        step, epoch = self.best.get("step"), self.best.get("epoch")
        counts_on = step is not None and step.index == self.step and counts_over_epochs(step)
        if counts_on or epoch is None or epoch.index == self.step:
            return -1
        return epoch.index

    @property
    def epochs(self) -> int:
        """The number of the last epoch, where the line names it with the epoch."""
        return self.epoch + 1 if self.epoch >= 0 and self._is_pair(self.epoch) else -1

    @property
    def counts_epochs(self) -> bool:
        """Say whether the step is the epoch."""
        epoch = self.best.get("epoch")
        return epoch is not None and epoch.index == self.step

    @property
    def is_score_of_epoch(self) -> bool:
        """Say whether the line gives a score of an epoch: what it names was made."""
        told = self.counts_epochs and not self.has("step", "goal")
        return told and _SCORE.search(self.whole) is not None

    def _progress(self) -> tuple[int, int, int]:
        """Positions of the step, of the total, and of the count that the total belongs to."""
        pair = self._pair()
        special = self._step_without_name()
        if special >= 0:
            return special, pair + 1 if pair >= 0 else -1, pair
        step = self.best.get("step")
        if step is not None and (self.bar < 0 or counts_over_epochs(step)):
            if self._is_pair(step.index):
                return step.index, step.index + 1, -1
            if counts_over_epochs(step) and pair >= 0:
                return step.index, pair + 1, pair
            if step.key != "batch":
                return step.index, -1, -1
        if pair >= 0:
            return pair, pair + 1, -1
        epoch = self.best.get("epoch")
        if epoch is not None and self._is_pair(epoch.index):
            return epoch.index, epoch.index + 1, -1
        if epoch is not None and (self.is_epoch_alone or self._is_told_once_an_epoch()):
            return epoch.index, -1, -1
        return -1, -1, -1

    def _is_told_once_an_epoch(self) -> bool:
        """Say whether a line names an epoch and a loss, and nothing that counts within the epoch.

        Dicts tell of epochs in fractions.
        """
        epoch = self.best["epoch"]
        return self.has("loss", "eval_loss") and not self.has("step") and not epoch.quoted

    def _pair(self) -> int:
        """A count and its goal without a name: `] 20/20000 |`, `[ 120/13000]`, `(5700/260508)`."""
        if self.bar >= 0:
            return self.bar + 1
        for index, field in self.fields.items():
            step = field.meaning is not None and field.meaning.role == "step"
            if self._is_rank_of_all(index):
                continue
            if self._is_pair(index) and (step or not _NO_PROGRESS.search(field.key)):
                return index
        return -1

    def _is_rank_of_all(self, index: int) -> bool:
        """Say whether a pair is a rank and the number of ranks: `[train.py:88] (0/8) Epoch 3,`."""
        epoch = self.best.get("epoch")
        texts = self.texts
        return (
            epoch is not None
            and index + 2 == epoch.index
            and texts[index].endswith("] (")
            and texts[index + 2].startswith(") ")
        )

    def _is_pair(self, index: int) -> bool:
        texts = self.texts
        return (
            index + 2 < len(texts)
            and texts[index + 1].strip(" =:") in _OF
            and not texts[index + 2].startswith("/")
            and not texts[index].endswith("/")
        )

    def _step_without_name(self) -> int:
        texts = self.texts
        if len(texts) < 3:
            return -1
        if self._is_numbered():
            return 0
        if texts[0].strip():
            return -1
        # 1|311|loss: 0.8812341: 46%|
        if texts[1] == "|" and texts[2].startswith("|loss"):
            return 1
        #     4 4.32 s run, 11.8750 loss,
        return 0 if texts[1] == " " and texts[2].startswith(" s run") else -1

    def _is_numbered(self) -> bool:
        """Say whether a line begins with a number and names its loss, but no other count."""
        loss = self.best.get("loss")
        numbered = _NUMBER_FIRST.match("#".join(self.texts[:2])) is not None
        counted = self.has("step", "epoch") or self.bar >= 0 or self._pair() >= 0
        return numbered and loss is not None and loss.index > 0 and not counted


def counts_over_epochs(step: Field) -> bool:
    """Say whether a step, by its name, counts from the start of the run: `global_step`."""
    return weight(step) >= _GLOBAL
