"""Waits that no series shows: for a first step that never came, and behind the last one.

A heartbeat that tells of step 0 for an hour waits for the first step. Who made the last step and
began to save, evaluate or export, and said nothing more while a monitor went on, never came back.
"""

import re
from collections import Counter
from collections.abc import Sequence

from app.detect.silence import BEATS, Clocked, in_words
from app.model import Line, Point

_FEWEST = 5
# hb up=2m step=0/120000   {"beat": 7, "iteration": 0}   alive, global_step 0
_AT_ZERO = re.compile(
    r"(?<![a-z])(?:step|iter|iteration|batch|update)s?[\"']?(?: ?[:=] ?| |#)0+(?: ?(?:/|of) ?\d+)?"
    r"(?![\d.%\w:/-])",
    re.IGNORECASE,
)
_IS_DONE = re.compile(
    r"\b(?:done|finished|completed?|saved|written|wrote|took|success\w*|elapsed|100 ?%)\b", re.I
)


def waits_for_a_first_step(timeline: Sequence[Clocked]) -> bool:
    """Say whether lines that are alike tell again and again of step 0, and none of another."""
    told = Counter(in_words(c.line) for c in timeline if _AT_ZERO.search(c.line.text))
    return any(count >= _FEWEST for count in told.values())


def last_said(last: Point, lines: Sequence[Line], work: re.Pattern[str]) -> bool:
    """Say whether what was said last behind a step, but for what beats, began such work."""
    behind = [line for line in lines if line.file == last.file and line.number > last.number]
    alike = Counter(map(in_words, behind))
    said = [line.text for line in behind if alike[in_words(line)] < BEATS and line.text.strip()]
    return bool(said) and work.search(said[-1]) is not None and not _IS_DONE.search(said[-1])
