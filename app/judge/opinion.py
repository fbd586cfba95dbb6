"""Weigh what a model says against what the rules found.

The model may break a doubt and nothing else. It may choose among the causes that the rules found,
and name one where they found none that is more than an echo, a clue, or the proof of what has no
name of its own (plain words, a timeout). It never overrules a proof that stands alone, nor puts
something weaker over one, unless it quotes who stopped the job. It changes nothing where it doubts
itself. That a job failed whose trainer says that it is done takes a quoted line which the rules,
too, hold for proof of that cause. That a job finished takes one that they hold for its last word;
or one of the last lines that has a word for an end, where nothing at all speaks of a failure and
the steps are not known to be short of their total: such words are without number. Where a reader
sees no end at all, a weak word for one falls. Where somebody plainly stopped the job, another cause
takes a line from its end (see `stopped`).

Confidence is reckoned from these grounds, never from the model's own word: high only where rules
with a proof that names its fault and the model agree, low for what the model names alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.judge.admissible import (
    Grounds,
    ends_in_peace,
    found_by_rules,
    is_for_numbers_to_tell,
    is_proven,
    place_of,
    says_done,
    went_on,
)
from app.judge.verdict import hashed, named, names_its_fault, outcome, ranked
from app.located import Suspect
from app.model import (
    Confidence,
    Evidence,
    Finding,
    Line,
    Root,
    Seen,
    Verdict,
)
from app.opinion import Opinion, Quoted, Weight

Method = Literal["rules", "memory", "rules+model", "model"]
_WHY = "quoted by the language model"


@dataclass(frozen=True, slots=True)
class Weighed:
    """The verdict after the opinion was weighed; `root` is the finding that it rests on, if any."""

    verdict: Verdict
    root: Finding | None
    opinion: Opinion
    method: Method


def weigh(verdict: Verdict, opinion: Opinion, grounds: Grounds, method: Method) -> Weighed:
    """Weigh an opinion; `method` says where the verdict came from that it is held against."""
    primary = verdict.primary
    agrees = opinion.cause == primary.cause
    if opinion.cause == "Unknown":
        if primary.cause == "Completed" and opinion.confidence != "doubtful":
            return _without_an_end(verdict, opinion, grounds)
        return _left(verdict, opinion, grounds, method, "" if agrees else "leaves it open")
    if not opinion.quotes:
        told = f"named {opinion.cause}, but none of its quotes is in the log: it was left aside"
        return _left(verdict, opinion, grounds, method, told)
    if agrees:
        return _agreed(verdict, opinion, grounds, method)
    if opinion.confidence == "doubtful":
        told = f"thinks of {opinion.cause}, but doubts it: it was left aside"
        return _left(verdict, opinion, grounds, method, told)
    ranking = ranked(grounds.detected, grounds.rulebook)
    if opinion.cause == "Completed":
        if not (
            says_done(opinion.quotes, ranking, grounds)
            or ends_in_peace(opinion.quotes, ranking, grounds)
        ):
            told = "takes the job for finished, which no quoted line proves: it was left aside"
            return _left(verdict, opinion, grounds, method, told)
        found = outcome("Completed", grounds.detected, ranking, grounds.files, grounds.job)
        return _chosen(found, None, verdict, opinion, grounds)
    own = found_by_rules(opinion, verdict, ranking, grounds)
    proven = own is not None and own.strength == "proof"
    if not proven and went_on(opinion, verdict, grounds):
        told = (
            f"named {opinion.cause}, but training went on after all that it quotes, until "
            f"{primary.cause}: it was left aside"
        )
        return _left(verdict, opinion, grounds, method, told)
    if own is not None:
        rest = (grounds.files, grounds.rulebook, grounds.job)
        found = named(own, grounds.detected, ranking, *rest)
        return _chosen(found, own, verdict, opinion, grounds)
    if is_proven(verdict, grounds) or primary.cause == "Completed":
        told = f"named {opinion.cause}, against what is proven: it was left aside"
        return _left(verdict, opinion, grounds, method, told)
    if is_for_numbers_to_tell(opinion, verdict, grounds):
        told = f"named {opinion.cause}, which what was measured does not show: it was left aside"
        return _left(verdict, opinion, grounds, method, told)
    return _alone(verdict, opinion, grounds)


def _left(
    verdict: Verdict, opinion: Opinion, grounds: Grounds, method: Method, told: str
) -> Weighed:
    agrees = opinion.cause == verdict.primary.cause
    remarks = (*verdict.remarks, f"the language model {told}") if told else verdict.remarks
    return Weighed(
        replace(verdict, remarks=remarks), grounds.root, replace(opinion, agrees=agrees), method
    )


def _agreed(verdict: Verdict, opinion: Opinion, grounds: Grounds, method: Method) -> Weighed:
    primary, root = verdict.primary, grounds.root
    confidence: Confidence = "medium"
    if primary.cause == "Completed":
        confidence = primary.confidence
    elif primary.strength == "proof" and root is not None and names_its_fault(root):
        confidence = "high"
    return Weighed(
        replace(
            verdict,
            primary=replace(primary, confidence=confidence),
            evidence=_with_quotes(verdict.evidence, opinion.quotes),
        ),
        grounds.root,
        replace(opinion, agrees=True, weight="agrees"),
        "model" if method == "memory" else "rules+model",
    )


def _chosen(
    told: Verdict, root: Finding | None, before: Verdict, opinion: Opinion, grounds: Grounds
) -> Weighed:
    """Take another of the causes that the rules found."""
    proven = root is not None and root.strength == "proof"
    sure: Confidence = "medium" if proven and before.primary.cause != "Completed" else "low"
    why = f"the rules leave a doubt; a language model chose {told.primary.cause}"
    verdict = replace(
        told,
        primary=replace(told.primary, confidence=sure),
        evidence=_with_quotes(told.evidence, opinion.quotes),
        remarks=(*told.remarks, f"{why} over {before.primary.cause}"),
    )
    return Weighed(verdict, root, _weighing(opinion, "chooses"), "rules+model")


def _without_an_end(before: Verdict, opinion: Opinion, grounds: Grounds) -> Weighed:
    """Take back that the job finished, which rules took from a weak word and a reader does not."""
    ranking = ranked(grounds.detected, grounds.rulebook)
    told = outcome("Unknown", grounds.detected, ranking, grounds.files, grounds.job)
    return _chosen(told, None, before, opinion, grounds)


def _alone(before: Verdict, opinion: Opinion, grounds: Grounds) -> Weighed:
    """Take a cause that the rules did not find."""
    cause = grounds.rulebook.causes[opinion.cause]
    first = opinion.quotes[0]
    line = _line_of(first, grounds)
    verdict = replace(
        before,
        primary=replace(
            before.primary,
            cause=cause.name,
            domain=cause.domain,
            signal=None,
            strength=None,
            confidence="low",
            fingerprint=hashed(cause.name, "model", _without_numbers(line.text if line else "")),
            summary=f"{cause.title}: a language model names it from the lines that it quotes",
            first_seen=_seen(first, line),
        ),
        other_roots=(*_as_root(grounds), *before.other_roots),
        evidence=_with_quotes(before.evidence, opinion.quotes),
        suspects=(*_printer(line), *before.suspects),
        remarks=(
            *before.remarks,
            "the cause comes from a language model, not from a rule: read the lines it quotes",
        ),
    )
    return Weighed(verdict, None, _weighing(opinion, "names"), "model")


def _weighing(opinion: Opinion, weight: Weight) -> Opinion:
    return replace(opinion, weight=weight)


def _with_quotes(evidence: tuple[Evidence, ...], quotes: Sequence[Quoted]) -> tuple[Evidence, ...]:
    shown = {(item.file, item.line) for item in evidence}
    more = [
        Evidence(quote.file, quote.line, quote.text[:1000], _WHY)
        for quote in quotes
        if (quote.file, quote.line) not in shown
    ]
    return (*more, *evidence)


def _line_of(quote: Quoted, grounds: Grounds) -> Line | None:
    place = (quote.file, quote.line)
    return next((line for line in grounds.lines if place_of(line, grounds.files) == place), None)


def _seen(quote: Quoted, line: Line | None) -> Seen:
    return Seen(
        quote.file, quote.line, None, line.rank if line else None, line.host if line else None
    )


def _printer(line: Line | None) -> tuple[Suspect, ...]:
    if line is None or (line.rank is None and line.host is None):
        return ()
    return (Suspect(line.host, line.rank, why="printed the line that the language model quotes"),)


def _as_root(grounds: Grounds) -> tuple[Root, ...]:
    root = grounds.root
    if root is None:
        return ()
    file, number = place_of(root.first, grounds.files)
    return (Root(root.cause, root.signal, root.strength, root.count, file, number),)


def _without_numbers(text: str) -> str:
    return "".join("#" if char.isdigit() else char for char in text)
