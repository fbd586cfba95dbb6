"""What kept the rank that all others waited for, when they timed out in a collective.

A rank that is in another collective took another way through the program. One that evaluates or
tokenizes alone is healthy and merely late. In both cases a restart waits in the same way again, so
it is worth to tell them from a rank that hangs.
"""

import re
from collections.abc import Sequence

from app.detect.collectives import parted
from app.located import Awaited
from app.model import Finding, Line, Point

_LOOKED_AT = 60  # lines before the first timeout
_EVALUATES = re.compile(
    r"\b(?:evaluat\w+|eval|validat\w+|predict\w*|inference|generat(?:e|ing) (?:samples|completions)"
    r"|scoring|test(?:ing)? (?:loop|set))\b",
    re.IGNORECASE,
)
_PREPARES = re.compile(
    r"\b(?:tokeniz\w+|pre-?process\w*|download\w*|(?:building|loading) (?:the )?(?:dataset |data )?"
    r"(?:index|cache|dataset)\b|generating \w+ split|grouping texts|packing|converting|compiling"
    r"|untar\w*|extracting|unpacking|map(?:ping)? ?\()",
    re.IGNORECASE,
)


def _trains(point: Point) -> bool:
    return point.loss is not None and not _EVALUATES.search(point.text)


def awaited(lines: Sequence[Line], points: Sequence[Point], findings: Sequence[Finding]) -> Awaited:
    """Say what the log shows of the awaited rank; empty where it shows nothing."""
    if parted(lines):
        return "another collective"
    waits = [s for f in findings if f.cause == "NCCLTimeoutError" for s in f.sightings]
    ranks = {sighting.line.rank for sighting in waits} - {None}
    if not ranks or 0 in ranks:  # work that one rank does alone is done by rank 0
        return ""
    first = min(waits, key=lambda sighting: (sighting.line.file, sighting.line.number)).line
    trained = max((p.number for p in points if p.file == first.file and _trains(p)), default=0)
    before = [
        line
        for line in lines
        if line.file == first.file
        and max(trained, first.number - _LOOKED_AT) < line.number < first.number
        and line.rank in (None, 0)
    ]
    for line in reversed(before):
        if _EVALUATES.search(line.text):
            return "evaluation"
        if _PREPARES.search(line.text):
            return "preparation"
    return ""
