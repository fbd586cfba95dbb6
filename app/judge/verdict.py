"""Weigh what an attempt shows into one verdict, with its grounds."""

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from app.judge.primary import rank
from app.judge.suspects import of_a_death, suspects
from app.model import (
    Confidence,
    Detected,
    Evidence,
    Explained,
    ExplainedCause,
    Finding,
    Job,
    Line,
    LogFile,
    Primary,
    Ranking,
    Root,
    Seen,
    Verdict,
)
from app.rulebook.rulebook import OUTCOMES, Rulebook

_MOST_EVIDENCE = 12
_ENDED_WELL = ("COMPLETED", "Succeeded", "Complete", "DONE")


def judge(
    detected: Detected, rulebook: Rulebook, files: Sequence[LogFile], job: Job
) -> tuple[Verdict, Finding | None]:
    """Give the verdict and the finding that it rests on, None for an outcome."""
    ranking = rank(detected.findings, rulebook)
    if _is_completed(detected, ranking, rulebook, job):
        return _outcome("Completed", detected, ranking, files, rulebook), None
    root = next((r for r in ranking.roots if r.cause != "Unknown"), None)
    if root is None or _outranked_by_unknown(ranking):
        return _outcome("Unknown", detected, ranking, files, rulebook), None
    return _named(root, detected, ranking, files, rulebook), root


def _outranked_by_unknown(ranking: Ranking) -> bool:
    """Say whether the likeliest root is something that happened for reasons the log hides."""
    return ranking.roots[0].cause == "Unknown" and ranking.roots[0].strength != "echo"


def _is_completed(detected: Detected, ranking: Ranking, rulebook: Rulebook, job: Job) -> bool:
    """Weigh the word that the job finished against what else was found."""
    if job.exit_code not in (None, 0) and detected.ending.finished != "trainer":
        return False
    roots = [root for root in ranking.roots if root.strength != "echo"]
    if detected.ending.finished == "trainer":
        return not any(_beats_the_trainer(root, detected, rulebook) for root in roots)
    if detected.ending.finished == "wrapper":
        return not roots and detected.ending.failed is None
    said_so = job.state in _ENDED_WELL or (job.exit_code == 0 and job.state is None)
    if detected.ending.finished == "hint" or said_so:
        return not ranking.roots and detected.ending.failed is None
    return False


def _beats_the_trainer(root: Finding, detected: Detected, rulebook: Rulebook) -> bool:
    """Say what stands against the trainer's last word: a loss gone wrong, and proof of failure.

    An error of the program counts wherever it stands: the job was to evaluate or save yet. Machines
    and schedulers count only before the word; what they do after it is tearing down.
    """
    cause = rulebook.causes.get(root.cause)
    if cause and cause.domain == "training":
        return root.cause != "Stalled"
    end = detected.ending.line
    if end is None or root.strength != "proof":
        return False
    if cause and cause.domain in ("script", "framework"):
        return True
    first = root.first
    if first.time is not None and end.time is not None and first.file != end.file:
        return first.time < end.time
    return first.file == end.file and first.number < end.number


def _named(
    root: Finding,
    detected: Detected,
    ranking: Ranking,
    files: Sequence[LogFile],
    rulebook: Rulebook,
) -> Verdict:
    others = [r for r in ranking.roots if r is not root]
    cause = rulebook.causes[root.cause]
    return Verdict(
        primary=Primary(
            cause=root.cause,
            domain=cause.domain,
            signal=root.signal,
            strength=root.strength,
            confidence=_confidence(root, others),
            fingerprint=fingerprint(root),
            summary=f"{cause.title}: {root.summary}" if root.summary else cause.title,
            first_seen=_seen(root.first, files),
        ),
        explained=tuple(_explained(e, files) for e in ranking.explained),
        other_roots=tuple(_root(r, files) for r in others if _is_rival(r, root)),
        evidence=_evidence(root, ranking, detected, files),
        suspects=suspects(root, detected, rulebook),
        remarks=detected.remarks,
    )


def _outcome(
    name: str,
    detected: Detected,
    ranking: Ranking,
    files: Sequence[LogFile],
    rulebook: Rulebook,
) -> Verdict:
    end = detected.ending.line if name == "Completed" else None
    evidence = [_shown(end, "says that the job finished", files)] if end else []
    remarks = list(detected.remarks)
    if name == "Unknown":
        for finding in (f for f in ranking.roots if f.cause == "Unknown"):
            evidence.append(_shown(finding.first, finding.summary, files))
            remarks.append(finding.summary)
        for mark in detected.exits[:3]:
            evidence.append(_shown(mark.line, "a process ended here", files))
    return Verdict(
        primary=Primary(
            cause=name,
            domain="outcome",
            signal=None,
            strength=None,
            confidence=_outcome_confidence(name, detected),
            fingerprint=_hashed(name),
            summary=OUTCOMES[name],
            first_seen=_seen(end, files) if end else None,
        ),
        explained=tuple(_explained(e, files) for e in ranking.explained),
        other_roots=tuple(_root(r, files) for r in ranking.roots),
        evidence=tuple(evidence),
        suspects=of_a_death(detected) if name == "Unknown" else (),
        remarks=tuple(dict.fromkeys(remarks)),
    )


def _confidence(root: Finding, others: Sequence[Finding]) -> Confidence:
    rivals = [other for other in others if _is_rival(other, root)]
    if root.strength == "proof":
        return "medium" if rivals else "high"
    return "medium" if root.strength == "clue" and not rivals else "low"


def _is_rival(other: Finding, root: Finding) -> bool:
    """Say whether another root speaks for another cause; echoes and bare kills do not."""
    return other.cause not in (root.cause, "Unknown") and other.strength != "echo"


def _outcome_confidence(name: str, detected: Detected) -> Confidence:
    if name == "Unknown":
        return "low"
    return "high" if detected.ending.finished == "trainer" else "medium"


def fingerprint(root: Finding) -> str:
    """Name the failure without rank, host, time and line, so that its repeats are counted."""
    facts = root.sightings[0].facts
    text = f"{facts.get('exception', '')} {facts.get('message', '')}"
    return _hashed(root.cause, root.signal, re.sub(r"[0-9a-fA-F]*\d[0-9a-fA-F]*", "#", text))


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _evidence(
    root: Finding, ranking: Ranking, detected: Detected, files: Sequence[LogFile]
) -> tuple[Evidence, ...]:
    shown = [_shown(s.line, root.summary, files) for s in root.sightings[:4]]
    shown += [
        _shown(e.finding.first, f"{e.finding.cause}, explained by {e.by.cause}", files)
        for e in ranking.explained
        if e.finding.first.number
    ]
    shown += [_shown(s.line, "context", files) for s in detected.context[:3]]
    unique = {(e.file, e.line): e for e in reversed(shown)}
    return tuple(e for e in dict.fromkeys(unique[x.file, x.line] for x in shown))[:_MOST_EVIDENCE]


def _shown(line: Line, why: str, files: Sequence[LogFile]) -> Evidence:
    return Evidence(_name(line, files), line.number, line.raw[:1000], why)


def _explained(explained: Explained, files: Sequence[LogFile]) -> ExplainedCause:
    first = explained.finding.first
    return ExplainedCause(
        cause=explained.finding.cause,
        by=explained.by.cause,
        edge=explained.edge,
        count=explained.finding.count,
        first_line=first.number,
        file=_name(first, files),
    )


def _root(finding: Finding, files: Sequence[LogFile]) -> Root:
    return Root(
        cause=finding.cause,
        signal=finding.signal,
        strength=finding.strength,
        count=finding.count,
        file=_name(finding.first, files),
        first_line=finding.first.number,
    )


def _seen(line: Line, files: Sequence[LogFile]) -> Seen:
    when = None
    if line.time is not None:
        when = datetime.fromtimestamp(line.time, UTC).isoformat(timespec="milliseconds")
    return Seen(_name(line, files), line.number, when, line.rank, line.host)


def _name(line: Line, files: Sequence[LogFile]) -> str:
    return files[line.file].name if 0 <= line.file < len(files) else "scheduler"
