"""What counts whole trainings: folds, stages, seeds, rounds, each with steps of its own.

===== Fold 3/5 =====    [pipeline] stage 1/2: warm-up training    Seed 2 of 3

The end of one of them is no end of the job, in whatever words it is told, if more are to come.
Where one number 0 was told the last of five is 4.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile

from app.model import Line, Marked, Point

_Told = tuple[int, int]  # which one, and the line that says it
_Count = tuple[str, int]  # of what, and how many
OF = r" ?(?:/|of|out of|von|van|de|di|sur|z|из) ?"
_PAIR = re.compile(rf"\d{OF}\d", re.IGNORECASE)
_KINDS = r"fold|stage|phase|seed|trial|round|cycle|repeat|repetition|experiment"
_ONE_OF = re.compile(
    r"(?P<of_other>\b(?:zero|pipeline|pipe|pp|parallel|optimizer)[ _:-]{1,2})?"
    rf"\b(?P<kind>{_KINDS}|fase|etapp?e?|étape|etapa|этап|фаза|фолд|阶段|단계|ステージ|段階)"
    r"(?: (?:no\.?|number|index))?[ #:=_-]{0,3}(?:(?:\w{1,9} )?[\[(])?"
    rf"(?P<one>\d{{1,5}}){OF}(?P<all>\d{{1,5}})\b",
    re.IGNORECASE,
)
# 第 1/5 折   1/4 단계 시작
_ONE_OF_AHEAD = re.compile(
    r"(?<![\d/])(?P<one>\d{1,3}) ?/ ?(?P<all>\d{1,3}) ?"
    r"(?P<kind>折|阶段|个?模型|단계|폴드|번째 모델|ステージ|段階|フォールド)"
)
# === Adapter 2/5 ===   Ensemble member 2/5   language 1/6: de   cross-validation, split 1 of 4
_HEADING = re.compile(
    r"^\W*(?:[^\W\d_]{1,40}(?:-[^\W\d_]{1,40})?, )?"
    r"(?P<kind>[^\W\d_]{1,40}(?: [^\W\d_]{1,40})?) (?P<one>\d{1,3})"
    rf"{OF}(?P<all>\d{{1,3}})(?:\W*|(?P<tail>(?::| [(–—-]) ?.{{1,60}}))$",
    re.IGNORECASE,
)
# what one training, or its start, counts
_OF_ONE_RUN = re.compile(
    r"\b(?:epochs?|epoche?n?|époque|época|эпоха|steps?|schritte?|iter\w*|batch\w*|shards?|files?|"
    r"chunks?|samples?|episodes?|workers?|ranks?|nodes?|gpus?|process\w*|pods?|replicas?|attempts?|"
    r"retry|retries|try|tries|restarts?|load\w*|download\w*|read\w*|check\w*|test\w*|eval\w*|"
    r"val\w*|sav\w*|page|blocks?|layers?)\b",
    re.IGNORECASE,
)
# of which the first one, told alone, promises more
_TRAININGS = re.compile(
    rf"(?:.* )?(?:{_KINDS}|split|member|adapter|language|ablation|variant|part|run|job|fit|"
    r"learner|client|model(?:lo|o|l)?|modèle|модель|pliegue|折|个?模型|폴드|번째 모델|フォールド)",
    re.IGNORECASE,
)
# [1/3] Pretrain
_LEADING = re.compile(r"^\W{0,6}[\[(](?P<one>\d{1,2}) ?/ ?(?P<all>\d{1,2})[\])](?=\s)")
# using fold 1 of 5 for validation   python train.py --fold 1/5   array task 0: seed 1 of 3
_OF_THIS_JOB = re.compile(
    r"\b(?:array|only|using|(?:job|task) per|held[ -]?out|this (?:job|run|task)|"
    r"(?:for|as|on) (?:the )?(?:val\w*|test\w*|eval\w*))\b|--\w",
    re.IGNORECASE,
)
_OF_AN_ARRAY = re.compile(
    r"array[_ -]?(?:task|job|index|id)"
    r"|--(?:fold|split|trial|member|part)(?:[-_](?:id|idx|index|no))?[ =]\d",
    re.IGNORECASE,
)
# the job is done   all finished   script exited with code 0
_FOR_ALL = re.compile(
    r"\b(?:job|script|program|pipeline|process|all|everything|experiment|sweep|study)\b|\bexit",
    re.IGNORECASE,
)
# Epoch 3/40   starting epoch 3 of 40
_EPOCH = re.compile(
    r"^\W*(?:starting |begin\w* )?(?:epoch|epoche|époque|época|эпоха) (?P<one>\d{1,5}) ?"
    rf"{OF} ?(?P<all>\d{{1,5}})\W*$",
    re.IGNORECASE,
)
_EARLY = re.compile(
    r"early[- ]?stop|\bstopp(?:ed|ing)\b|converged|no improvement|"
    r"(?:target|goal)\b.{0,30}\breached",
    re.IGNORECASE,
)
_IN_TURN = re.compile(  # of a fold or a trial there may be a job each
    r"stage|phase|round|cycle|fase|etapp?e?|étape|etapa|этап|фаза|阶段|단계|ステージ|段階"
)
_FEWEST = 2
_HEAD = 3  # lines before the first step


def is_of_one(text: str) -> bool:
    """Say whether a line names one of several trainings, and not the last."""
    return any(one < of for _, one, of in _read(text))


def is_of_the_last(text: str) -> bool:
    """Say whether a line names the last of several trainings."""
    told = _read(text)
    return bool(told) and all(one == of for _, one, of in told)


def that_count(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Give the lines that count something which may be trainings: few of all lines of a log."""
    return tuple(line for line in lines if _read(line.text))


def more_are_to_come(
    file: int, lines: Sequence[Line], whole: Sequence[Line] = (), points: Sequence[Point] = ()
) -> bool:
    """Say whether a file ends within one of several trainings, and not within the last.

    Each of them may have been taken for an attempt of its own, with its own `lines` from the first
    step on; that they follow each other shows in the `whole` log, or in those of its lines that
    count. What nobody knows for trainings
    counts them only where steps began anew from one to the next.
    """
    numbers = [line.number for line in lines if line.file == file]
    headed = [line for line in whole if numbers and 0 < numbers[0] - line.number <= _HEAD]
    counts = _counts(file, [*headed, *lines])
    if not counts:
        return False
    nested = _told_together(counts)
    everywhere = _counts(file, whole or lines)
    own = [point for point in points if point.file == file and not point.evaluates]
    alone = _counts(file, [line for line in whole or lines if _OF_THIS_JOB.search(line.text)])
    return any(
        _reached(told) < count[1]
        and (
            _are_trainings(count, everywhere[count], own)
            if _vary(everywhere[count])
            else _IN_TURN.fullmatch(count[0]) and count not in alone or count in nested
        )
        for count, told in counts.items()
    )


def others_are_promised(
    word: Line, lines: Sequence[Line], marks: Sequence[Marked], counting: Sequence[Line]
) -> bool:
    """Say whether a word ends the first of several trainings, of which no other one was begun.

    `fold 1 of 5` may be all that a job was for, as `trial 7 of 10` is: then somebody else than the
    training, or the command that began it, says so. `counting` are those `that_count` of all lines.
    """
    counts = _counts(word.file, counting)
    promised = any(
        _TRAININGS.fullmatch(kind) and not _vary(told) and told[0][0] <= 1 and told[0][0] < of
        for (kind, of), told in counts.items()
    )
    if not (promised or _leads_one(word.file, lines)):
        return False
    behind = [line for line in lines if line.file == word.file and line.number >= word.number]
    own = [line for line in lines if line.file == word.file]
    return not (
        any(mark.grade == "wrapper" and mark.line.file == word.file for mark in marks)
        or any(_OF_THIS_JOB.search(line.raw) for line in counting if line.file == word.file)
        or any(_FOR_ALL.search(line.text) for line in behind)
        or any(_OF_AN_ARRAY.search(line.raw) for line in own)
    )


def _leads_one(file: int, lines: Sequence[Line]) -> bool:
    """Say whether one line alone begins with a count, and it is that of the first of several."""
    own = [line for line in lines if line.file == file]
    told = [(found, line) for line in own if (found := _LEADING.match(line.text))]
    if len(told) != 1:
        return False
    found, line = told[0]
    is_first = int(found["one"]) == 1 < int(found["all"])
    return is_first and not _OF_ONE_RUN.search(line.text) and not _OF_THIS_JOB.search(line.text)


def epochs_are_to_come(file: int, lines: Sequence[Line]) -> bool:
    """Say whether the last heading of an epoch, of those that count them all, is not the last.

    Who stops early says so.
    """
    own = [line for line in lines if line.file == file]
    told = [
        (int(found["one"]), int(found["all"]), line.number)
        for line in own
        if (found := _EPOCH.match(line.text))
    ]
    if not told or told[-1][0] + (told[0][0] == 0) >= told[-1][1]:
        return False
    return not any(line.number > told[-1][2] and _EARLY.search(line.text) for line in own)


def begin_of_the_last(file: int, lines: Sequence[Line]) -> int:
    """Give the line at which the last of several trainings begins; 0 if it has not begun."""
    counts = _counts(file, lines)
    if not any(map(_vary, counts.values())) or more_are_to_come(file, lines):
        return 0
    return max(_begin(told) for told in counts.values())


def _counts(file: int, lines: Sequence[Line]) -> Mapping[_Count, list[_Told]]:
    counts: dict[_Count, list[_Told]] = defaultdict(list)
    for line in lines:
        for kind, one, of in _read(line.text) if line.file == file else ():
            counts[kind, of].append((one, line.number))
    return counts


def _told_together(counts: Mapping[_Count, Sequence[_Told]]) -> set[_Count]:
    """Give the counts that share a line with one that goes up: all of them go round in this job."""
    going = {number for told in counts.values() if _vary(told) for _, number in told}
    return {count for count, told in counts.items() if any(number in going for _, number in told)}


def _vary(told: Sequence[_Told]) -> bool:
    return len({one for one, _ in told}) > 1


def _are_trainings(count: _Count, told: Sequence[_Told], points: Sequence[Point]) -> bool:
    """Say whether what a heading counts is known for trainings, or steps begin anew behind it."""
    if _TRAININGS.fullmatch(count[0]) or not points:
        return True
    second = next(number for one, number in told if one != told[0][0])
    before = [p.step for p in points if p.step is not None and told[0][1] < p.number < second]
    behind = [p.step for p in points if p.step is not None and p.number > second]
    return bool(before and behind) and min(behind) < max(before)


def _reached(told: Sequence[_Told]) -> int:
    """Give the highest of a count since it last began, counted from 1."""
    first = min(one for one, _ in told)
    begin = max(place for place, (one, _) in enumerate(told) if one == first)
    return max(one for one, _ in told[begin:]) + (first == 0)


def _begin(told: Sequence[_Told]) -> int:
    """Give the first line that tells the number that is told at the end."""
    last = told[-1][0]
    return min(number for _, number in takewhile(lambda one: one[0] == last, reversed(told)))


def _read(text: str) -> list[tuple[str, int, int]]:
    """Give what a line counts, which may be several: `seed 1/3, fold 5/5`."""
    if not _PAIR.search(text):
        return []
    told = [found for found in _ONE_OF.finditer(text) if not found["of_other"]]
    return _counts_in([*told, *_ONE_OF_AHEAD.finditer(text)]) or _read_heading(text)


def _read_heading(text: str) -> list[tuple[str, int, int]]:
    """Give what a line counts that says nothing else, if it is nothing that a training counts."""
    found = _HEADING.match(text)
    if found is None or _OF_ONE_RUN.search(found["kind"]):
        return []
    if found["tail"] and not _TRAININGS.fullmatch(found["kind"]):
        return []
    return _counts_in([found])


def _counts_in(told: Sequence[re.Match[str]]) -> list[tuple[str, int, int]]:
    counts = [(found["kind"].lower(), int(found["one"]), int(found["all"])) for found in told]
    return [(kind, one, of) for kind, one, of in counts if of >= _FEWEST and one <= of]
