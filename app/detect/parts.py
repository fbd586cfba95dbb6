"""Words of one part of a job, which names itself: `[lm] training done.`, `vocoder: finished`.

They say nothing of the job where another part that counts its steps has some to go, or where
somebody tells of a failed exit that is not of the part itself.
"""

import re
from collections.abc import Sequence

from app.model import Line, Point

# [lm] training done.   vocoder: step 20/400   lm-1  | saved
_NAMED = re.compile(
    r"(?:\[(?P<framed>[a-z][\w.-]{0,30})\]|(?P<plain>[a-z][\w.-]{0,30}) {0,12}[:|])(?= )",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"(?:info|warn\w*|notice|debug|error|success|main|(?:re)?train\w*|loss|step|epoch|iter\w*|"
    r"(?:default|rank|gpu|worker|node)_?\d+)$",
    re.IGNORECASE,
)
_FAILED_EXIT = re.compile(
    r"\b(?:exit(?:ed)?|rc|ret|return(?:ed)?|status|code)\b[^\w\n]{0,4}(?:with |code |status )*"
    r"[:=]? ?-?[1-9]\d{0,2}\b",
    re.IGNORECASE,
)


def speaks_for_a_part(word: Line, points: Sequence[Point], lines: Sequence[Line]) -> bool:
    """Say whether a word is of one part alone, and another one is not done or failed."""
    name = _name(word.text)
    return bool(name) and (
        _has_open_peers(name, word.file, points)
        or any(
            _FAILED_EXIT.search(line.text) and name not in line.text.lower()
            for line in lines
            if line.file == word.file and line.number > word.number
        )
    )


def _has_open_peers(name: str, file: int, points: Sequence[Point]) -> bool:
    """Say whether the counter of a part of another name has steps to go."""
    last = {
        other: point
        for point in points
        if point.total_steps
        and point.file == file
        and not point.evaluates
        and (other := _name(point.text)) not in ("", name)
    }
    return any((point.step or 0) + 1 < (point.total_steps or 0) for point in last.values())


def _name(text: str) -> str:
    found = _NAMED.match(text)
    name = (found["framed"] or found["plain"]).lower() if found else ""
    return "" if _NOBODY.match(name) else name
