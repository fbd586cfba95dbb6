"""The time that a trainer expects to need until its end, as told beside its steps: `eta: 3:12:44`.

Where an epoch's steps are counted and nobody says how many epochs there are, it tells that the last
step was made. It may be that of the epoch alone: then it goes up when the next one begins.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from app.model import Point

_ETA = re.compile(
    r"\beta ?[:=]? ?(?:(?P<days>\d+) days?, )?(?:(?P<hours>\d+):)?(?P<minutes>\d+):"
    r"(?P<seconds>\d\d)\b",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"\bepoch\b\D{0,12}(\d+)", re.IGNORECASE)
_FEWEST = 10  # readings that show how the expectation goes
_FEW = 3
_SLACK = 1.2  # by which it may go up when work is slow
_MINUTE = 60.0


def time_is_up(own: Sequence[Point]) -> bool:
    """Say whether less than a stride was left at the last of a series' readings."""
    told = [(seconds, point) for point in own if (seconds := _eta(point.text)) is not None]
    if len(told) < _FEWEST or told[-1][1] is not own[-1]:
        return False
    left = [seconds for seconds, _ in told]
    if left[-1] > left[-2] - left[-1]:
        return False
    rises = any(later > sooner * _SLACK + _MINUTE for sooner, later in pairwise(left))
    return not rises and _epoch(told[0][1]) != _epoch(told[-1][1])


def time_is_left(own: Sequence[Point]) -> bool:
    """Say whether more than a few strides were left at the last readings of a series."""
    left = [_eta(point.text) for point in own[-2:]]
    if len(left) < 2 or left[0] is None or left[1] is None:
        return False
    return left[1] > max(_MINUTE, _FEW * abs(left[0] - left[1]))


def _eta(text: str) -> float | None:
    found = _ETA.search(text)
    if found is None:
        return None
    days, hours, minutes, seconds = (int(found[part] or 0) for part in _ETA.groupindex)
    return ((days * 24 + hours) * 60 + minutes) * _MINUTE + seconds


def _epoch(point: Point) -> str:
    found = _EPOCH.search(point.text)
    return found[1] if found else ""
