"""Tell a progress bar of the training from those of evaluations and of other work."""

import re
from dataclasses import dataclass

_LONGEST_NAME = 120
# 1.90s/it | 2.4it/s | ?it/s | 4.8s/ba | but not examples/s, B/s
_PACE = re.compile(r"(?:it|iter|step|batch)s?/s|s/(?:it|iter|step|batch)|(?<![a-z])ba/s|s/ba\b")
# Loading checkpoint shards:  33%| | Map: 100%| | Tokenizing train dataset:  10%|
_OTHER_WORK = re.compile(
    r"load|generat|token|map|filter|fetch|resolv|sav|writ|read|pack|process|cach|convert|compil|"
    r"split|dataset|shard|extract|count|build|quant|merg|upload|copy|captur"
)
# Epoch 0:  13%| | Training Progress:   6%| | Train:   3%|
_TRAINING = re.compile(
    r"epoch|train|step|iter|progress|loss|\bfit|batch|updat|tuning|\bsft|rollout"
)
# Validation DataLoader 0:  10%| | Sanity Checking DataLoader 0: 100%| | Evaluate:   9%|
_EVALUATION = re.compile(r"valid|(?<![a-z])val(?![a-z])|eval|test|sanity|predict")
# 3/1500 [>.............................] - eta: 29s - loss: 0.7
_KERAS = re.compile(r"\s*#/#\s*(?:\[[=>.]+\]|[━╸╺─])")


@dataclass(frozen=True, slots=True)
class Bar:
    """The bar's series, and what its name says."""

    series: str
    evaluates: bool
    nameless: bool


def bar_named(words: str, *, has_loss: bool) -> Bar | None:
    """Judge a bar by the words before it; None if it shows neither training nor evaluation."""
    name = " ".join(words.split()).rstrip(": ")[-_LONGEST_NAME:]
    named = any(letter.isalpha() for letter in name)
    told = _EVALUATION.search(name)
    evaluates = told is not None and (told.start() == 0 or "train" not in name)
    is_other = named and (_OTHER_WORK.search(name) or not _TRAINING.search(name))
    if is_other and not evaluates and not has_loss:
        return None
    series = f"{name} bar" if named else "bar"
    return Bar(f"{series} loss" if has_loss else series, evaluates, not named)


def counts_steps(whole: str) -> bool:
    """Say whether a bar counts steps, not files, bytes or examples."""
    return _PACE.search(whole) is not None


def is_keras_bar(whole: str) -> bool:
    """Say whether a line, digits masked, is a bar as Keras draws it."""
    return _KERAS.match(whole) is not None
