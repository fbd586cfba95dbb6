"""Work that goes on behind the word that training finished: evaluation, conversion, an upload.

What fails in it fails the job, however well it was trained. Where nothing was to be done yet, the
same words are the noise of processes that leave one by one.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.model import Ending, Line, Marked, Point, Sighting

_WORKS = re.compile(
    r"\b(?:evaluating|validating|testing|predicting|generating|benchmarking|scoring|decoding|"
    r"converting|exporting|merging|consolidating|quanti[sz]ing|uploading|pushing|copying|"
    r"archiving|packing|saving|writing)\b|"
    r"\b(?:re)?(?:start|begin|run|launch)\w*\b[^.;:]{0,40}\b(?:eval\w*|validation|tests?|"
    r"benchmarks?|prediction|inference|generation|conversion|export|upload)\b|"
    r"\b(?:eval\w*|validation|test|prediction) (?:batch|step|iter\w*|sample) \d",
    re.IGNORECASE,
)
_IS_DONE = re.compile(
    r"\b(?:done|finished|completed?|saved|uploaded|pushed|copied|wrote|written|exported|converted|"
    r"merged|took|success\w*|elapsed|100 ?%)\b",
    re.IGNORECASE,
)
_TELLS_RESULTS = re.compile(
    r"\b(?:loss|ppl|perplexity|acc|accuracy|scores?|bleu|metrics|results?|summary)\b", re.IGNORECASE
)
_OF_TRAINING = re.compile(r"(?<![a-z])train", re.IGNORECASE)
_OF_A_TRACKER = re.compile(r"\b(?:wandb|comet|mlflow|neptune|clearml|tensorboard)\b", re.IGNORECASE)


def with_onward(
    end: Ending,
    lines: Sequence[Line],
    points: Sequence[Point],
    marks: Sequence[Marked],
    sightings: Sequence[Sighting],
) -> Ending:
    """Add to a trainer's last word the line that shows what was still under way behind it.

    Only what stands before the first sign of a failure counts: what is printed there is over.
    """
    word = end.line
    if word is None or end.finished != "trainer":
        return end
    ill = [s.line for s in sightings if s.strength == "proof"]
    ill += [mark.line for mark in marks if mark.kind in ("failed", "exit")]
    behind = [line.number for line in ill if line.file == word.file and line.number > word.number]
    until = min(behind, default=None)
    return replace(end, onward=_under_way(word, lines, points, until))


def _under_way(
    word: Line, lines: Sequence[Line], points: Sequence[Point], until: int | None
) -> Line | None:
    """Give the last line of work that neither an end nor a result follows."""
    found = word if _WORKS.search(word.text) else None
    own = [point for point in points if point.file == word.file]
    known = {point.series for point in own if point.number <= word.number and not point.evaluates}
    counted = {point.number: point for point in own if point.series not in known}
    for line in _between(word, lines, points, until):
        point = counted.get(line.number)
        if point is not None and point.step is not None and point.total_steps:
            is_open = point.step + 1 < point.total_steps
            found = line if is_open else None
        elif _OF_A_TRACKER.search(line.raw):
            continue
        elif _IS_DONE.search(line.text):
            found = None
        elif _WORKS.search(line.text):
            found = line
        elif _TELLS_RESULTS.search(line.text) and not _OF_TRAINING.search(line.text):
            found = None
    return found


def _between(
    word: Line, lines: Sequence[Line], points: Sequence[Point], until: int | None
) -> list[Line]:
    """Lines and readings of evaluations that stand behind the word, in order."""
    last = float("inf") if until is None else until
    known = {line.number: line for line in lines if line.file == word.file}
    for point in points:
        if point.file == word.file and point.evaluates:
            read = Line(point.file, point.number, raw=point.text, text=point.text, time=point.time)
            known.setdefault(point.number, read)
    return [known[number] for number in sorted(known) if word.number < number < last]
