"""The words of a metric line before its quantities: its series, and whether it evaluates."""

import re
from collections.abc import Iterator

from app.compress.metric_fields import Field, weight
from app.compress.metric_names import Role
from app.compress.metric_shape import Shape

_LONGEST_NAME = 120
_USUAL = 90  # the weight above which a loss has a usual name
_SOURCE_FILE = re.compile(r"[\w./-]+\.(?:py|cc|cpp)\b")
_EVAL_HEAD = re.compile(
    r"(?:^|[^a-z])(?:val|valid|validation|validating|eval|evaluation|evaluating|evaluate|cv|"
    r"test(?=\s*[:\[(]))(?![a-z])"
)
# 11epoch:valid:1-450batch
_KINDS = ("", "train", "training", "val", "valid", "validation", "eval", "test")
_CLOCK_PART = re.compile(r":| days?, ")
_CLOCK = re.compile(r"(?:# days?, )?#(?::#)+")  # eta: 1 day, 3:02:11
_PADDING = re.compile(r"(?<=[:=(\[/|]) (?=#)| (?=/ ?#)")  # [  120/13000] becomes [ 2280/13000]
_JOINTS = " ,;|:-[({'\"="
_HEALTH: tuple[Role, ...] = (
    "loss", "policy_loss", "eval_loss", "other_loss", "grad_norm", "loss_scale", "skipped",
)  # fmt: skip
# :::MLLOG {"time_ms": 1714990760344, … "key": "tracked_stats", "value": {"train_loss": 1.31}
MLLOG = re.compile(r':::mllog .{0,200}"key": ?"(tracked_stats|train_loss)"')


def is_evaluation(shape: Shape, loss: Field) -> bool:
    """Say whether a line with a loss speaks of an evaluation."""
    if role_of(loss) == "eval_loss":
        return True
    if "train" in loss.key:
        return False
    words = _SOURCE_FILE.sub("", words_before(shape))
    told = [match.end() for match in _EVAL_HEAD.finditer(words)]
    return bool(told) and told[-1] > words.rfind("train")


def names_an_evaluation(words: str) -> bool:
    """Say whether the words before a quantity that is no loss speak of an evaluation alone."""
    return _EVAL_HEAD.search(_SOURCE_FILE.sub("", words)) is not None and "train" not in words


def words_before(shape: Shape, *, to_step: bool = False) -> str:
    """The words before the first loss or norm; settings with numbers between are left out.

    Where the loss is missing the words stay the same.
    """
    record = MLLOG.search(shape.whole)
    if record:
        return f"mllog {record[1]}"
    kept = {shape.step if shape.counted < 0 else shape.counted, shape.total}
    epoch = shape.best.get("epoch")
    kept.add(epoch.index if epoch else -1)
    at_progress = max(shape.step, shape.total)
    first = min(
        (field.index for field in shape.fields.values() if role_of(field) in _HEALTH),
        default=at_progress,
    )
    if shape.step >= 0 and to_step:
        first = min(first, at_progress + 1)
    words = _CLOCK.sub("#", " ".join("".join(_said(shape, first, kept)).split()))
    words = _PADDING.sub("", words)
    return words.rstrip(_JOINTS).lstrip(" |-,")[-_LONGEST_NAME:]


def _said(shape: Shape, first: int, kept: set[int]) -> Iterator[str]:
    dropped = False
    texts = shape.texts
    for index, text in enumerate(texts[: first + 1]):
        field = shape.fields.get(index)
        if dropped and _CLOCK_PART.fullmatch(text):
            continue
        is_setting = field is not None and field.explicit and field.key not in _KINDS
        dropped = index not in kept and (index == first or is_setting)
        if not dropped:
            yield f"{text}#" if index < len(texts) - 1 else ""
        elif field is not None:
            yield f"{field.extra.rstrip(_JOINTS)} "


def named_with(words: str, loss: Field) -> str:
    """A loss of no usual name may be one of several domains: it names the series."""
    plain = weight(loss) > _USUAL and any(letter.isalpha() for letter in words)
    return words if plain else f"{words} {loss.key}"


def role_of(field: Field | None) -> Role | None:
    """Say what a number of the line is."""
    return field.meaning.role if field is not None and field.meaning is not None else None
