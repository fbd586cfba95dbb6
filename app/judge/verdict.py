"""Weigh what an attempt shows into one verdict, with its grounds."""

import hashlib
import re
from collections.abc import Sequence

from app.judge.completion import is_completed, scheduler_agrees, scheduler_objects
from app.judge.killed import kills
from app.judge.primary import Explained, Ranking, rank
from app.judge.suspects import of_a_death, suspects
from app.model import (
    Confidence,
    Detected,
    Evidence,
    ExplainedCause,
    Finding,
    Job,
    Line,
    LogFile,
    Primary,
    Root,
    Seen,
    Verdict,
)
from app.moment import in_utc
from app.rulebook.cause import KNOW_NOT_WHY, Cause
from app.rulebook.rulebook import OUTCOMES, Rulebook

_MOST_EVIDENCE = 12
_FOR_WANT_OF_BETTER = frozenset({*KNOW_NOT_WHY, "NativeCrash", "CalledProcessError"})
_PLACES = ("host", "peer_host", "peer", "ip", "path", "mount", "gpu", "nic")


def judge(
    detected: Detected, rulebook: Rulebook, files: Sequence[LogFile], job: Job
) -> tuple[Verdict, Finding | None]:
    """Give the verdict and the finding that it rests on, None for an outcome."""
    ranking = ranked(detected, rulebook)
    if is_completed(detected, ranking, rulebook, job):
        return outcome("Completed", detected, ranking, files, job), None
    root = next((r for r in ranking.roots if _may_be_primary(r, rulebook)), None)
    if root is None or _outranked_by_unknown(ranking):
        return outcome("Unknown", detected, ranking, files, job), None
    return named(root, detected, ranking, files, rulebook, job), root


def ranked(detected: Detected, rulebook: Rulebook) -> Ranking:
    """Rank what was found, as far as the rulebook knows it."""
    known = [f for f in detected.findings if f.cause in rulebook.causes or f.cause == "Unknown"]
    return rank(known, rulebook)


def _may_be_primary(root: Finding, rulebook: Rulebook) -> bool:
    cause = rulebook.causes.get(root.cause)
    return cause is not None and cause.status == "stable"


def _outranked_by_unknown(ranking: Ranking) -> bool:
    """Say whether the likeliest root is something that happened for reasons the log hides."""
    return ranking.roots[0].cause == "Unknown" and ranking.roots[0].strength != "echo"


def named(
    root: Finding,
    detected: Detected,
    ranking: Ranking,
    files: Sequence[LogFile],
    rulebook: Rulebook,
    job: Job,
) -> Verdict:
    """Give the verdict that rests on a finding."""
    others = [r for r in ranking.roots if r is not root]
    cause = rulebook.causes[root.cause]
    return Verdict(
        primary=Primary(
            cause=root.cause,
            domain=cause.domain,
            signal=root.signal,
            strength=root.strength,
            confidence=_confidence(root, others, job, after_the_end=_is_late(cause, detected)),
            fingerprint=fingerprint(root),
            summary=_summary(cause.title, root.summary),
            first_seen=_seen(root.first, files),
        ),
        explained=tuple(_explained(e, files) for e in ranking.explained),
        other_roots=tuple(_root(r, files) for r in others if _is_rival(r, root)),
        evidence=_evidence(root, ranking, detected, files),
        suspects=suspects(root, detected, rulebook),
        remarks=(*detected.remarks, *_objections(job)),
    )


def outcome(
    name: str,
    detected: Detected,
    ranking: Ranking,
    files: Sequence[LogFile],
    job: Job,
) -> Verdict:
    """Give the verdict that the job finished, or that the log does not say why it ended."""
    end, too = detected.ending.line, detected.ending.too
    end, too = (end, too) if name == "Completed" else (None, None)
    said = [line for line in (end, too) if line is not None]
    evidence = [_shown(line, "says that the job finished", files) for line in said]
    remarks = list(detected.remarks)
    if name == "Completed" and scheduler_objects(job):
        remarks.append("the trainer says that it finished; the scheduler says that the job failed")
    if name == "Unknown":
        killed = kills(detected)
        remarks += killed
        for finding in (f for f in ranking.roots if f.cause == "Unknown"):
            evidence.append(_shown(finding.first, finding.summary, files))
            if not (killed and "signal" in finding.sightings[0].facts):
                remarks.append(finding.summary)
        shown = {(item.file, item.line) for item in evidence}
        for mark in detected.exits[:3]:
            item = _shown(mark.line, "a process ended here", files)
            evidence += [item] if (item.file, item.line) not in shown else []
    return Verdict(
        primary=Primary(
            cause=name,
            domain="outcome",
            signal=None,
            strength=None,
            confidence=_outcome_confidence(name, detected, job),
            fingerprint=hashed(name),
            summary=OUTCOMES[name],
            first_seen=_seen(end, files) if end else None,
        ),
        explained=tuple(_explained(e, files) for e in ranking.explained),
        other_roots=tuple(_root(r, files) for r in ranking.roots),
        evidence=tuple(evidence),
        suspects=of_a_death(detected) if name == "Unknown" else (),
        remarks=tuple(dict.fromkeys(remarks)),
    )


def _is_late(cause: Cause, detected: Detected) -> bool:
    """Say whether a machine failed in a job whose trainer says that it finished."""
    return cause.domain == "infrastructure" and detected.ending.finished == "trainer"


def _confidence(
    root: Finding, others: Sequence[Finding], job: Job, *, after_the_end: bool
) -> Confidence:
    """Say how sure the grounds make: `high` only for a proof that names the fault, and alone.

    A wait, a crash and an exception in nobody's words are named for want of something better, which
    the log may not hold. What plain words say of another fault is no rival, yet a doubt; so is a
    trainer that says that it finished.
    """
    rivals = [other for other in others if _is_rival(other, root)]
    if root.strength != "proof":
        return "medium" if root.strength == "clue" and not rivals else "low"
    doubts = any(other.general and other.cause != root.cause for other in others)
    doubts = doubts or after_the_end or scheduler_agrees(job)
    sure = names_its_fault(root) and not (rivals or doubts)
    return "high" if sure else "medium"


def names_its_fault(root: Finding) -> bool:
    """Say whether a finding tells what is to be fixed, and is not named for want of better."""
    return root.cause not in _FOR_WANT_OF_BETTER and not root.general


def _summary(title: str, told: str) -> str:
    return title if not told or told.lower() == title.lower() else f"{title}: {told}"


def _objections(job: Job) -> tuple[str, ...]:
    if scheduler_agrees(job):
        return ("the scheduler says that the job ended well; the log says otherwise",)
    return ()


def _is_rival(other: Finding, root: Finding) -> bool:
    """Say whether another root speaks for another cause; echoes and bare kills do not."""
    return other.cause not in (root.cause, "Unknown") and other.strength != "echo"


def _outcome_confidence(name: str, detected: Detected, job: Job) -> Confidence:
    if name == "Unknown":
        return "low"
    agreed = detected.ending.finished == "trainer" and not scheduler_objects(job)
    return "high" if agreed else "medium"


def fingerprint(root: Finding) -> str:
    """Name the failure without rank, host, time and line, so that its repeats are counted."""
    first = root.sightings[0]
    text = f"{first.facts.get('exception', '')} {first.facts.get('message', '')}"
    for name in (*(first.facts.get(place) for place in _PLACES), first.line.host):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "#", text) if name else text
    return hashed(root.cause, root.signal, re.sub(r"[0-9a-fA-F]*\d[0-9a-fA-F]*", "#", text))


def hashed(*parts: str) -> str:
    """Give a short name for texts together."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _evidence(
    root: Finding, ranking: Ranking, detected: Detected, files: Sequence[LogFile]
) -> tuple[Evidence, ...]:
    shown = [_shown(s.line, root.summary, files) for s in root.sightings[:4]]
    shown += [
        _shown(alike.first, alike.summary, files)
        for alike in ranking.roots
        if alike.cause == root.cause and alike is not root
    ]
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
        when = in_utc(line.time)
    return Seen(_name(line, files), line.number, when, line.rank, line.host)


def _name(line: Line, files: Sequence[LogFile]) -> str:
    return files[line.file].name if 0 <= line.file < len(files) else "scheduler"
