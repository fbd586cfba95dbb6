"""Trainings that a job makes in turn, of which each ends in the same words, as the job counts them.

    [1/3] Pretrain … Training complete.   [2/3] SFT … Training complete.   [3/3] DPO

Whatever the words of the count: what goes up by one from each such end to the next counts the
trainings, either in a heading before each or as what was done behind it. The end of the second of
three is no end of the job; that of the third is one, though the same was said of all before.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from app.detect.closing import is_cut_short, trains_again_behind
from app.detect.counted import has_steps_to_go
from app.detect.enclosing import OF
from app.detect.repeated import in_words
from app.model import Ending, Line, Marked, Point

_Told = tuple[int, int]  # which one, and the line that says it
_COUNTS = (
    # [1/3] Pretrain   Training model 1 of 3   Language: de (1/3)   1 of 4 steps (25%) done
    re.compile(rf"(?<![\d/.:-])(?P<one>\d{{1,3}}){OF}(?P<all>\d{{1,3}})(?![\d/.%])", re.I),
    # >>> Stage 1: projector (of 3)   第 1 折，共 5 折
    re.compile(
        r"(?<![\d/.:-])(?P<one>\d{1,3})\b[^\d]{1,24}\(of (?P<all>\d{1,3})\)"
        r"|第 ?(?P<one_cn>\d{1,3}) ?\S{1,4}?[，,（( ]*共 ?(?P<all_cn>\d{1,3})"
    ),
)
# [HYDRA] Launching 4 jobs locally   [HYDRA]        #0 : lr=0.1
_ANNOUNCED = re.compile(r"\bLaunching (?P<all>\d{1,3}) jobs\b")
_ONE_OF_ANNOUNCED = re.compile(r"\]\s+#(?P<one>\d{1,3}) : ")
_FEWEST = 2
_PLAIN = ("trainer", "wrapper", "hint")


def with_turns(
    end: Ending, marks: Sequence[Marked], points: Sequence[Point], lines: Sequence[Line]
) -> Ending:
    """Take back the word that ended another one than the last; give it back to the last.

    Not where steps were left, or more work begins behind it.
    """
    if end.line is not None:
        is_other = turn_of(end.line, marks, points, lines) == "other"
        return Ending(failed=end.failed) if is_other else end
    told = [mark for mark in marks if mark.kind == "finished" and mark.grade in _PLAIN]
    if not told or end.failed is not None:
        return end
    last = max(told, key=lambda mark: (mark.line.file, mark.line.number))
    steps = [point for point in points if point.file == last.line.file and not point.evaluates]
    if any(point.number > last.line.number for point in steps) or has_steps_to_go(steps):
        return end
    if trains_again_behind(last.line, lines) or is_cut_short(last.line, lines):
        return end
    is_last = turn_of(last.line, marks, points, lines) == "last"
    return Ending("hint", last.line) if is_last else end


def turn_of(
    word: Line, marks: Sequence[Marked], points: Sequence[Point], lines: Sequence[Line]
) -> Literal["last", "other"] | None:
    """Say whether a word ends the last of several trainings or another one; None if none count."""
    ends = _ends(word, marks)
    readings = [point for point in points if point.file == word.file]
    metrics = {point.number for point in readings if point.loss is not None}
    own = [line for line in lines if line.file == word.file and line.number not in metrics]
    trained = sorted({point.number for point in readings})
    for (_, of), told in _counts(own).items():
        if (found := _weigh(told, of, ends, trained)) is not None:
            return found
    return None


def _ends(word: Line, marks: Sequence[Marked]) -> list[int]:
    said = next((in_words(mark) for mark in marks if mark.line == word), None)
    numbers = {m.line.number for m in marks if m.line.file == word.file and in_words(m) == said}
    return sorted(number for number in numbers if number <= word.number)


def _weigh(
    told: Sequence[_Told], of: int, ends: Sequence[int], trained: Sequence[int]
) -> Literal["last", "other"] | None:
    """Hold a count against the ends: each number that was told belongs to one of them."""
    first = {one: number for one, number in reversed(told)}
    ones = sorted(first)
    if [one for one, _ in told] != sorted(one for one, _ in told):
        return None
    if ones != list(range(ones[0], ones[0] + len(ones))) or ones[0] > 1:
        return None
    begins = [first[one] for one in ones]
    if begins[0] > ends[0]:
        in_step = len(ends) >= _FEWEST and _alternate(ends, begins, trained)
        return _either(ones[-1] >= of) if in_step and len(ends) - len(ones) in (0, 1) else None
    within = [number for number in begins if number <= ends[-1]]
    if len(within) < len(begins) and ones[-1] + (ones[0] == 0) < of:
        return "other" if _alternate(within[-1:], ends[-1:], trained) else None
    if len(within) < _FEWEST or len(within) != len(ends) or not _alternate(within, ends, trained):
        return None
    return _either(len(within) >= of)


def _either(is_last: bool) -> Literal["last", "other"]:
    return "last" if is_last else "other"


def _alternate(sooner: Sequence[int], later: Sequence[int], trained: Sequence[int]) -> bool:
    """Say whether the lines of two kinds follow each other in turn, with steps before each end."""
    pairs = list(zip(sooner, later, strict=False))
    turns = all(one <= other for one, other in pairs) and all(
        other < one for other, one in zip(later, sooner[1:], strict=False)
    )
    edges = [0, *sorted({*sooner, *later})]
    spans = zip(edges, edges[1:], strict=False)
    return turns and sum(any(a < n < b for n in trained) for a, b in spans) >= len(pairs)


def _counts(lines: Sequence[Line]) -> Mapping[tuple[str, int], list[_Told]]:
    """Give what lines count, by the word that they begin with and how many there are."""
    counts: dict[tuple[str, int], list[_Told]] = defaultdict(list)
    announced = 0
    for line in lines:
        if found := _ANNOUNCED.search(line.text):
            announced = int(found["all"])
        elif announced and (found := _ONE_OF_ANNOUNCED.search(line.text)):
            counts["#", announced].append((int(found["one"]), line.number))
        for one, of, begin in _read(line.text):
            if of >= _FEWEST and one <= of:
                counts[begin, of].append((one, line.number))
    return counts


def _read(text: str) -> list[tuple[int, int, str]]:
    found = [match for pattern in _COUNTS for match in pattern.finditer(text)]
    return [
        (
            int(match.groupdict().get("one") or match["one_cn"]),
            int(match.groupdict().get("all") or match["all_cn"]),
            text[: match.start()].split(" ", 1)[0],
        )
        for match in found[:1]
    ]
