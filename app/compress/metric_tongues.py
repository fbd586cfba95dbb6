"""Read what a metric line calls its numbers where the words are not English.

A program that speaks Chinese or Spanish prints the same quantities in the same
forms; only the few words before the numbers differ.
"""

import re

_ENGLISH = {
    "损失": "loss",
    "損失": "loss",
    "손실": "loss",
    "потери": "loss",
    "pérdida": "loss",
    "perda": "loss",
    "perte": "loss",
    "perdita": "loss",
    "verlust": "loss",
    "步数": "step",
    "迭代": "iter",
    "ステップ": "step",
    "스텝": "step",
    "단계": "step",
    "шаг": "step",
    "paso": "step",
    "passo": "step",
    "schritt": "step",
    "étape": "step",
    "pas": "step",
    "轮次": "epoch",
    "エポック": "epoch",
    "에폭": "epoch",
    "эпоха": "epoch",
    "época": "epoch",
    "époque": "epoch",
    "学习率": "lr",
    "学習率": "lr",
    "학습률": "lr",
    "验证": "val ",
    "検証": "val ",
    "검증": "val ",
    "∞": "inf",
    "困惑度": "ppl",
    "梯度范数": "grad_norm",
    "gradientennorm": "grad_norm",
}
# 손실(loss) 6.0511 says it in English too
_FOREIGN = re.compile(rf"(?<![a-z])({'|'.join(_ENGLISH)})(?![a-z(])")


def is_foreign(line: str) -> bool:
    """Say whether a line in lower case may hold such words."""
    return (
        not line.isascii()
        or "perte" in line
        or "perd" in line
        or "verlust" in line
        or "schritt" in line
        or "passo" in line
    )


def in_english(line: str) -> str:
    """Put the English words of metrics in place of others; `line` is in lower case."""
    return _FOREIGN.sub(lambda word: _ENGLISH[word[1]], line)
