"""Find a loss that jumped up, or climbed, and stayed there.

What counts is measured against the run's own noise. A reading stands out when it lies seven
deviations above what went before: the distance of OLMo 2's spike score (arXiv 2501.00656), with
medians in place of mean and deviation, which the spike itself would move. The jump is one
only if no five readings in a row come back down, and if the level has changed by a factor. Which
factor depends on the gradient norm. It leads a divergence (ZClip, arXiv 2504.02507, watches it
alone), and stays where it was when new data or another objective moved the loss. Where it is not
printed, the noise of the loss stands in for it: a model that diverged is thrown about. PaLM (arXiv
2204.02311) calls for a rollback only where the loss does not recover by itself.

Of a few readings (one for each epoch, say) the noise cannot be told. There the rise must be plain:
to a multiple of all of the last readings, and to stay there. An explosion, to a thousand times what
any reading said before, is plain after a single one.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from app.detect.noise import growth_of_norm, is_rougher, noise_of, norms_of, smoothed
from app.detect.tracks import Track
from app.model import Line, Point

_DEVIATIONS = 7.0
_LEAST_RISE = 0.05
_WINDOW = 64
_LEVEL = 8
_FEWEST = 24
_SHORT_PAST, _LONG_FUTURE = 8, 20  # with so little before it, a jump needs so much after it
_FEWEST_AFTER = 3
_EXPLOSION, _FAR_OUT = 1000.0, 100.0  # times the highest before, and the least level after it
_FEWEST_EXPLODED = 5
_FEWEST_PLAIN = 5  # readings before a jump that is plain to see
_PLAIN_RISE, _SHORT_PLAIN_RISE = 2.0, 3.0  # the second with fewer readings behind it than that
# By how much the level must have risen, by what the gradient norm did:
_NORM_EXPLODED, _RISE_WITH_NORM = 3.0, 1.25
_NORM_ROSE, _RISE_UNKNOWN = 1.5, 2.0
_UNDONE, _RISE_UNDONE = 0.5, 1.5  # the first: the share of what was learned, on a log scale
_RISE_WITHOUT_NORM = 3.0
_RISE_ROUGHER = 1.5  # of a norm that is not told
_LEARNED = 1.25  # times the best level, where a run began
_COMING_BACK = 0.5  # the share of the rise, on a log scale, after which the loss is recovering
_RL_NORM, _RL_FEWEST = 30.0, 20
_ANNOUNCED = 3  # readings before a jump in which a change may be announced
# [data] switching to blend B   entering stage 2   curriculum: sequence length 8192
_PLANNED = re.compile(
    r"curriculum|\b(?:blend|mixture|data[ _-]?mix|stage|phase|domain|objective|task)\b|"
    r"\bswitch(?:ing|ed)?\b|unfreez|\b(?:seq(?:uence)?|context)[ _-]?len|\bnew data",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Jump:
    """A rise that lasts: where it began, and the levels before and after it."""

    onset: Point
    before: float
    after: float
    readings: int
    norm_growth: float | None
    of: str = "loss"


def jump(track: Track, lines: Sequence[Line]) -> Jump | None:
    """Find the jump of one series, if it has one; policy losses are judged by their norm alone."""
    run = track.run()
    if track.reinforces:
        return _norm_exploded(run)
    read = [point for point in run if point.loss is not None and math.isfinite(point.loss)]
    losses = [point.loss for point in read if point.loss is not None]
    exploded = _explosion(losses, read)
    if exploded or len(losses) < _FEWEST:
        found = exploded or _plain_jump(losses, read)
        return found if found and not _was_planned(read[0], found, lines) else None
    if not _is_worth_a_look(losses):
        return None
    place = 2
    while place <= len(losses) - _FEWEST_AFTER:
        found = _jump_at(place, losses, read)
        if found and not _was_planned(read[max(0, place - _ANNOUNCED)], found, lines):
            return found
        place += _LEVEL if found else 1  # behind a planned change the new level counts
    found = _climbed(losses, read)
    return found if found and not _was_planned(read[0], found, lines) else None


def _explosion(losses: Sequence[float], read: Sequence[Point]) -> Jump | None:
    """Find where a loss leapt by orders of magnitude, from one reading to all that follow."""
    lowest = list(accumulate(reversed(losses), min))[::-1]
    highest = 0.0
    for place, loss in enumerate(losses[: max(0, len(losses) - _FEWEST_EXPLODED + 1)]):
        if highest > 0 and lowest[place] >= max(_EXPLOSION * highest, _FAR_OUT):
            before, rest = losses[:place], losses[place:]
            grown = growth_of_norm(read[:place], read[place:])
            return Jump(read[place], median(before), median(rest), len(rest), grown)
        highest = max(highest, loss)
    return None


def _plain_jump(losses: Sequence[float], read: Sequence[Point]) -> Jump | None:
    """Find the first reading from which on all are far above the last ones before it.

    A loss that may be negative has no multiples: it rises by its distance from zero, and above it.
    """
    for place in range(_FEWEST_PLAIN, len(losses) - _FEWEST_AFTER + 1):
        before, rest = losses[place - _FEWEST_PLAIN : place], losses[place:]
        level, after = median(before), median(rest)
        grown = growth_of_norm(read[:place], read[place:])
        rise = _PLAIN_RISE if len(rest) >= _FEWEST_PLAIN else _SHORT_PLAIN_RISE
        rise = max(rise, _least_rise(grown))
        highest = max(before)
        bar = highest + (rise - 1) * abs(level) if highest < 0 else rise * highest
        if level and min(rest[1:]) > bar and rest[0] > highest and rest[-1] >= after / rise:
            return Jump(read[place], level, after, len(rest), grown)
    return None


def _is_worth_a_look(losses: Sequence[float]) -> bool:
    end = median(losses[-max(_FEWEST_AFTER, min(_LEVEL, len(losses) // 10)) :])
    lowest = min(max(pair) for pair in zip(losses, losses[1:], strict=False))
    return lowest > 0 and end >= _RISE_WITH_NORM * lowest


def _jump_at(place: int, losses: Sequence[float], read: Sequence[Point]) -> Jump | None:
    window = losses[max(0, place - _WINDOW) : place]
    level = median(window[-_LEVEL:])
    bar = level + max(_DEVIATIONS * noise_of(window, level), _LEAST_RISE)
    if level <= 0 or losses[place] <= max(bar, _RISE_WITH_NORM * level):
        return None
    rest = losses[place:]
    if place < _SHORT_PAST and (len(rest) < _LONG_FUTURE or min(rest) <= max(window)):
        return None
    levels = smoothed(rest)
    after = median(rest[-max(_FEWEST_AFTER, len(rest) // 20) :])
    grown = growth_of_norm(read[max(0, place - _WINDOW) : place], read[place:])
    least = _RISE_ROUGHER if grown is None and is_rougher(window, rest) else _least_rise(grown)
    if grown is not None and grown >= _NORM_ROSE and _undone(losses, level, after) >= _UNDONE:
        least = min(least, _RISE_UNDONE)
    # With no norm to tell, a dip in a wandering loss must not set the level.
    usual = max(level, median(window[-_FEWEST:])) if grown is None else level
    if min(levels) <= bar or after < least * usual:
        return None
    if math.log(max(levels) / after) > _COMING_BACK * math.log(max(levels) / level):
        return None
    return Jump(read[place], level, after, len(rest), grown)


def _undone(losses: Sequence[float], level: float, after: float) -> float:
    """Tell what share of the way down from its first readings a loss went back."""
    first = median(losses[:_FEWEST_AFTER])
    return math.log(after / level) / math.log(first / level) if first > level else 0.0


def _climbed(losses: Sequence[float], read: Sequence[Point]) -> Jump | None:
    """Find a slow divergence: no single jump, but the loss left its best level for good.

    It must have learned before, and be past half of its way up for a tenth of the readings. One
    that was never so high may just be hard to learn, unless the gradient norm exploded.
    """
    width = max(_LEVEL, len(losses) // 20)
    levels = [median(losses[i : i + width]) for i in range(len(losses) - width + 1)]
    lowest = min(range(len(levels)), key=levels.__getitem__)
    best, end = levels[lowest], levels[-1]
    half = (best + end) / 2
    if best <= 0 or end < _RISE_WITH_NORM * best or levels[0] <= min(half, _LEARNED * best):
        return None
    above = next((i for i in range(lowest, len(levels)) if levels[i] > half), len(levels))
    if len(levels) - above < max(_LONG_FUTURE, len(losses) // 10) or min(levels[above:]) <= half:
        return None
    grown = growth_of_norm(read[max(0, lowest - _WINDOW) : lowest + width], read[above + width :])
    exploded = grown is not None and grown >= _NORM_EXPLODED
    if levels[0] <= half and not exploded:
        return None
    if end < _least_rise(grown) * best or max(levels[above:]) > end + (end - best) / 2:
        return None
    return Jump(read[min(lowest + width, len(read) - 1)], best, end, len(losses) - above, grown)


def _least_rise(norm_growth: float | None) -> float:
    if norm_growth is None:
        return _RISE_UNKNOWN
    if norm_growth >= _NORM_EXPLODED:
        return _RISE_WITH_NORM
    return _RISE_UNKNOWN if norm_growth >= _NORM_ROSE else _RISE_WITHOUT_NORM


def _was_planned(before: Point, found: Jump, lines: Sequence[Line]) -> bool:
    """Say whether a line among the last readings announces other data or another stage."""
    if found.norm_growth is not None and found.norm_growth >= _NORM_EXPLODED:
        return False
    return any(
        line.file == before.file
        and before.number < line.number < found.onset.number
        and _PLANNED.search(line.text)
        for line in lines
    )


def _norm_exploded(run: Sequence[Point]) -> Jump | None:
    """Find a gradient norm that is far out of its old range to the end: a policy that collapsed."""
    read = [p for p in run if p.grad_norm is not None and math.isfinite(p.grad_norm)]
    norms = norms_of(read)
    if len(norms) < 2 * _RL_FEWEST:
        return None
    if median(norms[-_RL_FEWEST:]) < _RL_NORM * min(norms):
        return None
    for place in range(_RL_FEWEST, len(norms) - _RL_FEWEST + 1):
        level = median(norms[max(0, place - _WINDOW) : place])
        if norms[place] < _RL_NORM * level or level <= 0:
            continue
        after = median(norms[place:])
        if after >= _RL_NORM * level and min(smoothed(norms[place:])) >= _RL_NORM / 3 * level:
            return Jump(
                read[place], level, after, len(norms) - place, after / level, "gradient norm"
            )
    return None
