"""Words of an end that a model wrote, or was shown: samples, printed in the midst of training.

{"event": "sample", "text": "All done, exit code 0."}
=== samples at step 1000 ===
The job was done. Training completed successfully!
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from app.model import Line, Marked, Point

_WRITTEN = r"samples?|generat(?:ions?|ed)|completions?|prompts?|responses?|rollouts?|decoded"
_IN_LINE = re.compile(
    rf"[\"'](?:event|type|kind|tag|msg|name)[\"']: ?[\"'](?:\w+[ _])?(?:{_WRITTEN})"
    r"(?:[ _](?:text|outputs?|log|table))?[\"']|"
    rf"[\"'](?:{_WRITTEN})(?:[ _]?text)?[\"']: ?[\"']|"
    rf"^\W{{0,4}}(?:{_WRITTEN})\b[\])]? ?(?:#?\d+ ?)?(?:text ?)?[:=]? ?[\"'“«]|"
    rf"\b(?:{_WRITTEN})(?: text| #?\d+)?(?: ?[:=]) ?[\"'“«]",
    re.IGNORECASE,
)
# === samples at step 1000 ===   generated text after epoch 3:
_HEADING = re.compile(
    rf"^\W*(?:\w+ )?(?:{_WRITTEN})(?: \w+)? (?:at|after|for|from|of) "
    r"(?:step|iter\w*|epoch|update) \d[\d,]*\W*$",
    re.IGNORECASE,
)
_BLOCK = 20  # lines behind a heading


def without_quoted(
    marks: Iterable[Marked], lines: Sequence[Line], points: Iterable[Point]
) -> tuple[Marked, ...]:
    """Leave out words of an end within the text of a sample."""
    headings = [(line.file, line.number) for line in lines if _HEADING.match(line.text)]
    steps = sorted((point.file, point.number) for point in points) if headings else []
    return tuple(
        mark
        for mark in marks
        if mark.kind != "finished"
        or not (
            _IN_LINE.search(mark.line.text)
            or (mark.grade != "wrapper" and _is_below(mark.line, headings, steps))
        )
    )


def _is_below(
    line: Line, headings: Sequence[tuple[int, int]], steps: Sequence[tuple[int, int]]
) -> bool:
    """Say whether a line without a clock follows a heading of samples, and no step came between."""
    place = bisect_left(headings, (line.file, line.number)) - 1
    if place < 0 or line.time is not None or headings[place][0] != line.file:
        return False
    if line.number - headings[place][1] > _BLOCK:
        return False
    return bisect_left(steps, headings[place]) == bisect_left(steps, (line.file, line.number))
