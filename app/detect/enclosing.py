"""What counts whole trainings: folds, stages, seeds, rounds, each with steps of its own.

===== Fold 3/5 =====    [pipeline] stage 1/2: warm-up training    Seed 2 of 3

The end of one of them is no end of the job, in whatever words it is told, if more are to come.
Where one number 0 was told the last of five is 4.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile

from app.model import Line

_Told = tuple[int, int]  # which one, and the line that says it
_Count = tuple[str, int]  # of what, and how many
_ONE_OF = re.compile(
    r"(?P<of_other>\b(?:zero|pipeline|pipe|pp|parallel|optimizer)[ _:-]{1,2})?"
    r"\b(?P<kind>fold|stage|phase|seed|trial|round|cycle|repeat|repetition|experiment)"
    r"(?: (?:no\.?|number|index))?[ #:=_-]{0,3}[\[(]?(?P<one>\d{1,5}) ?(?:/|of|out of) ?"
    r"(?P<all>\d{1,5})\b",
    re.IGNORECASE,
)
# === Adapter 2/5 ===   Ensemble member 2/5
_HEADING = re.compile(
    r"^\W*(?P<kind>[a-z]+(?: [a-z]+)?) (?P<one>\d{1,3}) ?(?:/|of) ?(?P<all>\d{1,3})\W*$",
    re.IGNORECASE,
)
# what one training, or its start, counts
_OF_ONE_RUN = re.compile(
    r"\b(?:epochs?|steps?|iter\w*|batch\w*|shards?|files?|chunks?|samples?|episodes?|workers?|ranks?|"
    r"nodes?|gpus?|process\w*|pods?|replicas?|attempts?|retry|retries|try|tries|restarts?|load\w*|"
    r"download\w*|read\w*|check\w*|test\w*|eval\w*|val\w*|sav\w*|page|blocks?|layers?)\b",
    re.IGNORECASE,
)
_IN_TURN = ("stage", "phase", "round", "cycle")  # of a fold or a trial there may be a job each
_FEWEST = 2
_HEAD = 3  # lines before the first step


def is_of_one(text: str) -> bool:
    """Say whether a line names one of several trainings, and not the last."""
    return any(one < of for _, one, of in _read(text))


def is_of_the_last(text: str) -> bool:
    """Say whether a line names the last of several trainings."""
    told = _read(text)
    return bool(told) and all(one == of for _, one, of in told)


def more_are_to_come(file: int, lines: Sequence[Line], whole: Sequence[Line] = ()) -> bool:
    """Say whether a file ends within one of several trainings, and not within the last.

    Each of them may have been taken for an attempt of its own, with its own `lines` from the first
    step on; that they follow each other shows in the `whole` log.
    """
    numbers = [line.number for line in lines if line.file == file]
    headed = [line for line in whole if numbers and 0 < numbers[0] - line.number <= _HEAD]
    counts = _counts(file, [*headed, *lines])
    if not counts:
        return False
    nested = _told_together(counts)
    everywhere = _counts(file, whole or lines)
    return any(
        _reached(told) < count[1]
        and (count[0] in _IN_TURN or _vary(everywhere[count]) or count in nested)
        for count, told in counts.items()
    )


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
    told = (
        (found["kind"].lower(), int(found["one"]), int(found["all"]))
        for found in _ONE_OF.finditer(text)
        if not found["of_other"]
    )
    counts = [(kind, one, of) for kind, one, of in told if of >= _FEWEST and one <= of]
    return counts or _read_heading(text)


def _read_heading(text: str) -> list[tuple[str, int, int]]:
    """Give what a line counts that says nothing else, if it is nothing that a training counts."""
    found = _HEADING.match(text)
    if found is None or _OF_ONE_RUN.search(found["kind"]):
        return []
    one, of = int(found["one"]), int(found["all"])
    return [(found["kind"].lower(), one, of)] if of >= _FEWEST and one <= of else []
