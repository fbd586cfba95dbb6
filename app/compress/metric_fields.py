"""Cut a line, in lower case, into its numbers and what each of them is called."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.compress.metric_names import Meaning, is_eval, loss_at, meaning

_LONGEST_KEY = 64
_LONGEST_UNIT = 16
# 6,520 | 2.310000e+00 | -0.0014 | 74000.0; a character class first, so that it is found quickly
_NUMBER = re.compile(
    r"([-+0-9](?:(?<=[0-9])|[0-9])[0-9]*(?:,[0-9]{3}(?![0-9]))*(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?)"
)
# loss nan, | loss is infinity. | but not (+nanz), info, nanogpt
# NaN32 and Inf32 are Julia's
_NAN = re.compile(r"nan(?<=\bnan)(?:16|32|f0)?\b")
_INF = re.compile(r"inf(?<=\binf)(?:inity|16|32|f0)?\b")
# 1.#QNAN   -1.#IND   1.#INF00   as older Windows prints them; loss: .nan of YAML
_OF_WINDOWS = re.compile(r"\b1\.#(?:[qs]?nan|(ind)|(inf))\d*")
_OF_YAML = re.compile(r"(?<=[ :=])\.(?=(?:nan|inf)\b)")
_NAN_AS_NUMBER = "0e9999"
_INF_AS_NUMBER = "9e9999"
# 'loss': np.float64(1.31) | loss: tensor(2.31, device='cuda:0') | Array(nan, dtype=float32) |
# <tf.Tensor: shape=(), dtype=float32, numpy=2.31>
_WRAPPED = re.compile(
    r"(?:np\.float\d+|(?:tf\.)?tensor|(?:np\.|mx\.|device)?array)"
    r"\(\[?([^(),\]]{1,40})(?:[^()]|\(\)){0,80}\)"
)
_IN_A_TENSOR = re.compile(r"<tf\.(?:tensor|variable)[^<>]{0,120}numpy=([^<>]{1,40})>")
# train 950.0it/4.00kit | 1.20kit/4.00kit, as tqdm_loggable prints what it counted
_SCALED_PAIR = re.compile(
    r"(?<![0-9])([0-9]+(?:\.[0-9]+)?)([km]?)it/([0-9]+(?:\.[0-9]+)?)([km]?)it\b"
)
_THOUSANDS = {"": 1, "k": 1_000, "m": 1_000_000}
# | load-balance-loss | ; {'loss' ; [RANK:0] step ; records/second. Loss is
_BETWEEN_FIELDS = re.compile(r"[|,;{}\[\]\t]|  +| --? |[.!?] ")
_SEPARATORS = " \t:=\"'([{<#~@"
_LEFT_RIM = " \t.)]}>%\"'-|*✨"
_RIGHT_RIM = " \t.\"'|*"
# mtp_1 loss | det_loss_cls_0: | bf16
_IN_A_WORD = re.compile(r"[a-z_]$")
_STEP_IN_A_WORD = re.compile(r"(?:^|[\s\[(|])(?:step|iter|epoch|ep)$")
# grad_norm={'0_default': 2.15, '1_fp32': 0.0}
_NORM_OF_GROUPS = re.compile(r"grad_norm['\"]?[=:] ?\{['\"]$")
_FIRST_GROUP = "grad_norm: "
_OVER = "\0"
#     4 4.32 s run, 11.8750 loss, 0.000000000002 LR,
_LOSS_BEHIND = re.compile(r" loss(?=\s*(?:[,;|)]|$))")
#  1000 steps  loss 3.8065
_STEPS_BEHIND = re.compile(r" (?:steps|iters|iterations)(?![a-z/])")
# 第 1110 步   第1110步迭代
_STEP_BEHIND_ORDINAL = re.compile(r" ?(?:步|次迭代|step(?![a-z]))")
# avg loss over last 10 steps: 2.31 | average loss for the last 100 batches 2.31
_LOSS_OVER = re.compile(r"loss (?:over|of|in|for) (?:the )?(?:last |past |previous )?$")
_STEPS_OF_LOSS = re.compile(r"^ ?(?:steps|iters|iterations|(?:mini-?)?batches|updates)(?![a-z])")
# step 200: train crossentropyloss |  3.21   STEP|200|LOSS|3.21
_BAR_BEHIND_NAME = re.compile(r"(loss(?= +\|$)|(?:^|(?<=\|))(?:step|iter|loss|gn|lr)(?=\|$)) *\|$")
# {"name": "train/loss", "value": 2.31, "step": 120}
_NAMED_APART = re.compile(r"\"(?:name|key|tag|metric)\": ?\"([^\"#]{1,60})\",? ?\"value\": ?$")
_QUOTED = re.compile(r"['\"]\s*:\s*['\"]?$")


def parts_of(line: str) -> list[str]:
    """Cut a line in lower case into texts and numbers by turns, a text first and last."""
    if "%|" in line:
        line = _without_picture(line)
    if "it/" in line and "progress on:" in line:
        line = _SCALED_PAIR.sub(_unscaled, line)
    if "tensor(" in line or "array(" in line or "np.float" in line:
        line = _WRAPPED.sub(r"\1", line)
    if "numpy=" in line:
        line = _IN_A_TENSOR.sub(r"\1", line)
    if ".#" in line:
        line = _OF_WINDOWS.sub(lambda told: "inf" if told[2] else "nan", line)
    if ".nan" in line or ".inf" in line:
        line = _OF_YAML.sub("", line)
    if "nan" in line:
        line = _NAN.sub(_NAN_AS_NUMBER, line)
    if "inf" in line:
        line = _INF.sub(_INF_AS_NUMBER, line)
    return _NUMBER.split(line)


def number(part: str) -> float:
    """Read a number among the parts of a line."""
    value = float(part.replace(",", "") if "," in part else part)
    return value if value or not part.endswith(_NAN_AS_NUMBER) else math.nan


def _unscaled(pair: re.Match[str]) -> str:
    done, goal = (round(float(pair[place]) * _THOUSANDS[pair[place + 1]]) for place in (1, 3))
    return f"{done}/{goal} it"


def _without_picture(line: str) -> str:
    """Cut the drawn part out of a bar: ` 13%|█▎        | 120/900` has as many shapes as widths."""
    begin = line.find("%|") + 2
    end = line.find("|", begin)
    return line if end < 0 else line[:begin] + line[end:]


@dataclass(frozen=True, slots=True)
class Field:
    """A number that is not part of a word; `extra` is what stands before its name."""

    index: int
    key: str
    extra: str
    explicit: bool
    quoted: bool
    meaning: Meaning | None


def fields(texts: Sequence[str]) -> Iterator[Field]:
    """Every number that is not part of a word, with what it is called."""
    carried, last_key = "", ""
    for index in range(len(texts) - 1):
        piece = carried + texts[index]
        carried = ""
        if over := _LOSS_OVER.search(piece):
            carried = piece[: over.start() + 4][-_LONGEST_KEY:] + _OVER
            continue
        if _OVER in piece:
            own, _, behind = piece.partition(_OVER)
            piece = own + _STEPS_OF_LOSS.sub("", behind)
        if _NORM_OF_GROUPS.search(piece):
            carried = _FIRST_GROUP
            continue
        if _IN_A_WORD.search(piece) and not _STEP_IN_A_WORD.search(piece):
            carried = f"{piece[-_LONGEST_KEY:]}#"
            continue
        if piece.startswith(_FIRST_GROUP):
            piece = _FIRST_GROUP
        bare = _BAR_BEHIND_NAME.sub(r"\1", piece.rstrip(_SEPARATORS))
        tail = piece[len(bare) :]
        key = _key(bare)
        extra = bare[: bare.rfind(key)] if key else bare
        extra = extra.rpartition("#")[2]  # what was carried was part of the text before
        key = key.lstrip(_LEFT_RIM).rstrip(_RIGHT_RIM).removesuffix(" is")
        if tail == "@":
            key = f"{key} at step"
        explicit = ":" in tail or "=" in tail
        if explicit and not key:
            key = loss_at(last_key)
        found = _meaning(key, texts[index + 1][:_LONGEST_UNIT], piece)
        yield Field(index, key, extra, explicit, _QUOTED.search(piece) is not None, found)
        last_key = key


def _key(bare: str) -> str:
    key = _BETWEEN_FIELDS.split(bare[-256:])[-1].rpartition(":")[2]
    if "=" in key:
        key = key.rpartition("=")[2].partition(" ")[2]
    # 손실(loss) 6.0511
    if key.endswith(")") and "(" in key and not key.isascii():
        key = key.rpartition("(")[2].removesuffix(")")
    return key[-_LONGEST_KEY:]


def _meaning(key: str, after: str, piece: str) -> Meaning | None:
    if _LOSS_BEHIND.match(after) and key in ("", "eval", "val", "test", "train"):
        return Meaning("eval_loss" if key and is_eval(key) else "loss", 97)
    if _STEPS_BEHIND.match(after) and not key:
        return Meaning("step", 35)
    if key.endswith("第") and _STEP_BEHIND_ORDINAL.match(after):
        return Meaning("step", 35)
    if key == "value" and (named := _NAMED_APART.search(piece)):
        return meaning(named[1], after)
    if piece.endswith(("@", "@ ")) and not key:
        return Meaning("step", 10)
    if key == "samples_count":
        return Meaning("step", 10)
    if key == "to" and "loss scale from" in piece:
        return Meaning("loss_scale", 5)
    found = meaning(key, after)
    # step = 31601 (182.200 sec) | Time(100 iters): 17.2s
    if piece.endswith("(") and found and found.role == "seconds" and found.weight < 4:
        return None
    return found


def weight(field: Field) -> int:
    """Say how much a number counts among those of its role."""
    return field.meaning.weight if field.meaning else 0
