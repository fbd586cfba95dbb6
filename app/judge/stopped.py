"""Hold a model's opinion against the plain word that somebody stopped the job.

A run that is cancelled, preempted or out of time was mostly well until then, whatever had passed on
the way: a loss that was no number for a few steps, a retry, a warning. Who says that something else
ended it must show it where it ended: by a line after which training made no step any more.
"""

from collections.abc import Sequence

from app.model import Finding, LogFile, Point
from app.opinion import Opinion, Quoted

_STOPS = "scheduler"  # the domain of causes that stop a job from outside
_OF_LOSS = ("NonFiniteLoss", "LossSpike")
_LAST_LINES = 40  # a screen, where no reading tells how far training came


def is_stop(domain: str, root: Finding) -> bool:
    """Say whether a verdict of a domain rests on the word of who stopped the job."""
    return domain == _STOPS and root.strength in ("proof", "clue")


def outlived(
    opinion: Opinion,
    stops: Sequence[Finding],
    files: Sequence[LogFile],
    points: Sequence[Point],
) -> bool:
    """Say whether training went on after all that is quoted; `stops` tell of the stop itself."""
    names = [file.name for file in files]
    told = {(s.line.file, s.line.number) for finding in stops for s in finding.sightings}
    first = min(told)
    return not any(
        quote.file in names
        and (names.index(quote.file), quote.line) not in told
        and _is_at_the_end(quote, names.index(quote.file), opinion.cause, first, points)
        for quote in opinion.quotes
    )


def _is_at_the_end(
    quote: Quoted, file: int, cause: str, stop: tuple[int, int], points: Sequence[Point]
) -> bool:
    is_before = file != stop[0] or quote.line < stop[1]
    if cause in _OF_LOSS and not is_before:
        return False
    readings = [p for p in points if p.file == file and (file != stop[0] or p.number < stop[1])]
    if not readings:
        return file != stop[0] or quote.line > stop[1] - _LAST_LINES
    last = readings[-1]
    same = [p.number for p in readings if p.step is not None and p.step == last.step]
    if quote.line < min([last.number, *same]):
        return False
    is_number = any(p.number == quote.line and _is_finite(p) for p in readings)
    return not (cause == "NonFiniteLoss" and is_number)


def _is_finite(point: Point) -> bool:
    return point.loss is not None and abs(point.loss) < float("inf")
