"""What an opinion may rest on: which of its grounds the log and the rules bear out."""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.counters import is_short_of_its_total, last_counter
from app.judge.completion import scheduler_objects
from app.judge.primary import Ranking
from app.judge.stopped import is_stop, outlived
from app.judge.verdict import names_its_fault
from app.model import Detected, Finding, Job, Line, LogFile, Point, Verdict
from app.opinion import Opinion, Quoted
from app.rulebook.rulebook import Rulebook

# Elapsed: 2:10:33   Saved final weights to out/   All 40 epochs done.   real 311m20s
_AN_END = re.compile(
    r"(?i)\b(?:finish\w*|complete[ds]?|done|succe\w+|sav(?:ed|ing)|final\w*|elapsed|took|bye|real"
    r"|(?:total|wall|train(?:ing)?|run) ?(?:clock )?(?:time|runtime|duration))\b"
)
# Saving model checkpoint to out/checkpoint-500: it is said in the middle of training, too
_A_CHECKPOINT = re.compile(r"(?i)check-?point|ckpt|\b(?:global_?)?step[ _=-]?\d")
_SAVED = re.compile(r"(?i)\bsav(?:ed|ing)\b")
_LAST_LINES = 40  # a screen; what stands above is not how the job ended


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the rules know of the case: what was found, and what their verdict rests on."""

    detected: Detected
    root: Finding | None
    files: Sequence[LogFile]
    job: Job
    rulebook: Rulebook
    lines: Sequence[Line] = ()
    points: Sequence[Point] = ()


def found_by_rules(
    opinion: Opinion, verdict: Verdict, ranking: Ranking, grounds: Grounds
) -> Finding | None:
    """Find what the rules found of the cause that the model names, where it may be chosen.

    Beside a proof only another one that nothing explains; or beside a fault of the infrastructure,
    which many jobs survive, the quoted word of who stopped the job.
    """
    explained = [item.finding for item in ranking.explained]
    own = [f for f in (*ranking.roots, *explained) if f.cause == opinion.cause]
    if is_proven(verdict, grounds):
        proofs = [f for f in own if f.strength == "proof" and f in ranking.roots]
        may_be_survived = verdict.primary.domain == "infrastructure"
        stops = [f for f in own if may_be_survived and _is_quoted_stop(f, opinion, grounds)]
        own = proofs or stops
    if verdict.primary.cause == "Completed":
        own = [f for f in own if f.strength == "proof" and _is_quoted(f, opinion.quotes, grounds)]
    return own[0] if own else None


def is_proven(verdict: Verdict, grounds: Grounds) -> bool:
    """Say whether a proof tells what is to be fixed; plain words and bare timeouts do not."""
    named = grounds.root is None or names_its_fault(grounds.root)
    return verdict.primary.strength == "proof" and named


def went_on(opinion: Opinion, verdict: Verdict, grounds: Grounds) -> bool:
    """Say whether the job was plainly stopped, and training had outlived what is quoted."""
    root = grounds.root
    if root is None or not is_stop(verdict.primary.domain, root):
        return False
    own = [f for f in grounds.detected.findings if f.cause == verdict.primary.cause]
    stops = own or [root]
    return outlived(opinion, stops, grounds.files, grounds.points)


def is_for_numbers_to_tell(opinion: Opinion, verdict: Verdict, grounds: Grounds) -> bool:
    """Say whether readings tell better than a reader's eye, and tell nothing of the kind.

    A loss is compared with all that were read; where none was, its format is unknown, and a reader
    is better than nothing. A hang is measured by clocks, and a reader may name it only where the
    rules know no cause, or one that may as well have ended a hang.
    """
    losses = [point.loss for point in grounds.points if point.loss is not None]
    if opinion.cause == "NonFiniteLoss":
        return bool(losses) and math.isfinite(losses[-1])
    if opinion.cause == "LossSpike":
        return bool(losses)
    ends_hangs = verdict.primary.cause == "Unknown" or verdict.primary.domain == "scheduler"
    return opinion.cause == "Stalled" and not ends_hangs


def _is_quoted_stop(finding: Finding, opinion: Opinion, grounds: Grounds) -> bool:
    cause = grounds.rulebook.causes[finding.cause]
    return is_stop(cause.domain, finding) and _is_quoted(finding, opinion.quotes, grounds)


def _is_quoted(finding: Finding, quotes: Collection[Quoted], grounds: Grounds) -> bool:
    places = {(quote.file, quote.line) for quote in quotes}
    return any(place_of(s.line, grounds.files) in places for s in finding.sightings)


def place_of(line: Line, files: Sequence[LogFile]) -> tuple[str, int]:
    """Give the file and line as quotes name them."""
    return (files[line.file].name if 0 <= line.file < len(files) else "", line.number)


def says_done(quotes: Collection[Quoted], ranking: Ranking, grounds: Grounds) -> bool:
    """Say whether a quoted line is one that the rules take for an end, and no proof is against."""
    ending = grounds.detected.ending
    if ending.line is None or ending.failed is not None:
        return False
    proven = any(root.strength == "proof" for root in ranking.roots)
    quoted = place_of(ending.line, grounds.files) in {(quote.file, quote.line) for quote in quotes}
    return quoted and not proven


def ends_in_peace(quotes: Collection[Quoted], ranking: Ranking, grounds: Grounds) -> bool:
    """Say whether a word for an end is quoted from the last lines, and nothing tells of failure."""
    if ranking.roots or grounds.detected.ending.failed or scheduler_objects(grounds.job):
        return False
    if is_short_of_its_total(last_counter(grounds.points)):
        return False
    last = {file.name: file.lines - _LAST_LINES for file in grounds.files}
    return any(
        quote.line > last.get(quote.file, quote.line) and _tells_an_end(quote.text)
        for quote in quotes
    )


def _tells_an_end(text: str) -> bool:
    told = _SAVED.sub("", text) if _A_CHECKPOINT.search(text) else text
    return _AN_END.search(told) is not None
