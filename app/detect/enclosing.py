"""What counts whole trainings: folds, stages, seeds, rounds, each with steps of its own.

===== Fold 3/5 =====    [pipeline] stage 1/2: warm-up training    Seed 2 of 3

The end of one of them is no end of the job, in whatever words it is told, if more are to come.
Where one number 0 was told the last of five is 4.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from app.model import Line

_ONE_OF = re.compile(
    r"\b(?P<kind>fold|stage|phase|seed|trial|round|cycle|repeat|repetition|experiment)"
    r"(?: (?:no\.?|number|index))?[ #:=_-]{0,3}[\[(]?(?P<one>\d{1,5}) ?(?:/|of|out of) ?"
    r"(?P<all>\d{1,5})\b",
    re.IGNORECASE,
)
_IN_TURN = ("stage", "phase", "round", "cycle")  # of a fold or a trial there may be a job each
_FEWEST = 2


def is_of_one(text: str) -> bool:
    """Say whether a line names one of several trainings, and not the last."""
    told = _read(text)
    return told is not None and told[1] < told[2]


def is_of_the_last(text: str) -> bool:
    """Say whether a line names the last of several trainings."""
    told = _read(text)
    return told is not None and told[1] == told[2]


def more_are_to_come(file: int, lines: Sequence[Line]) -> bool:
    """Say whether a file ends within one of several trainings, and not within the last."""
    told: dict[tuple[str, int], list[int]] = defaultdict(list)
    for line in lines:
        if line.file == file and (found := _read(line.text)) is not None:
            told[found[0], found[2]].append(found[1])
    return any(
        _reached(own) < of and (kind in _IN_TURN or len(set(own)) > 1)
        for (kind, of), own in told.items()
    )


def _reached(own: Sequence[int]) -> int:
    """Give the highest of a count since it last began, counted from 1."""
    first = min(own)
    begin = max(place for place, one in enumerate(own) if one == first)
    return max(own[begin:]) + (first == 0)


def _read(text: str) -> tuple[str, int, int] | None:
    found = _ONE_OF.search(text)
    if found is None:
        return None
    one, of = int(found["one"]), int(found["all"])
    return (found["kind"].lower(), one, of) if of >= _FEWEST and one <= of else None
