"""Pick the finding that no other present finding explains.

A log rarely names one fault. A broken link kills one rank, the others time out, the launcher
reports a failed child: four causes are present and one of them is to be fixed. The rulebook knows
which cause explains which; here that relation is laid over what was found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.judge.account import Event, accounts_for, is_earlier
from app.model import Finding, Strength
from app.rulebook.cause import EdgeKind
from app.rulebook.relation import Link, Relation
from app.rulebook.rulebook import Rulebook

_WEIGHT: dict[Strength, int] = {"proof": 3, "clue": 2, "echo": 1, "context": 0}


@dataclass(frozen=True, slots=True)
class Explained:
    """A finding that another one accounts for."""

    finding: Finding
    by: Finding
    edge: Literal["always", "if_earlier", "refines"]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Findings split into roots, likeliest first, and those that something explains."""

    roots: tuple[Finding, ...]
    explained: tuple[Explained, ...]


def rank(findings: Sequence[Finding], rulebook: Rulebook) -> Ranking:
    """Split the findings into roots, likeliest first, and those that something explains.

    Two roots mean that the log holds two faults or that the rulebook lacks an edge. Both are
    returned: to hide the second would be to guess. Every finding is a root or is explained, over
    others or not, by a root.
    """
    events, refined = _refine(findings, rulebook)
    roots, explained = _split(events, _culprits(events, rulebook.relation))
    return Ranking(
        roots=tuple(sorted(roots, key=_likeliest_first)), explained=(*refined, *explained)
    )


def _likeliest_first(finding: Finding) -> tuple[int, bool, float, int, int]:
    # Proof goes before clue, clue before echo; what is specific before plain words, which any
    # program may print; then the earlier, since later may be wreckage.
    line = finding.first
    began = finding.onset if finding.onset is not None else float("inf")
    return -_WEIGHT[finding.strength], finding.general, began, line.file, line.number


def _refine(findings: Sequence[Finding], rulebook: Rulebook) -> tuple[list[Event], list[Explained]]:
    """Merge findings into those that tell the same event in more detail; these inherit its time."""
    finer = {
        coarse.signal: [f for f in findings if f is not coarse and _refines(f, coarse, rulebook)]
        for coarse in findings
    }
    merged = [
        Explained(coarse, min(finer[coarse.signal], key=_likeliest_first), "refines")
        for coarse in findings
        if finer[coarse.signal]
    ]
    kept = [finding for finding in findings if not finer[finding.signal]]
    return [_inherited(finding, findings, finer) for finding in kept], merged


def _refines(fine: Finding, coarse: Finding, rulebook: Rulebook) -> bool:
    """Say whether one tells the event of the other; of its own cause a signal names what is weaker.

    A scheduler that says who cancelled the job tells of the signal that its processes report.
    """
    signal = rulebook.signal_named.get(fine.signal)
    if signal is None:
        return False
    if coarse.signal in signal.refines:
        return True
    is_coarser = fine.cause != coarse.cause or _WEIGHT[coarse.strength] < _WEIGHT[fine.strength]
    return coarse.cause in signal.refines and is_coarser


def _inherited(
    finding: Finding, findings: Sequence[Finding], finer: Mapping[str, Sequence[Finding]]
) -> Event:
    same = {finding.signal: finding}
    while more := {
        coarse.signal: coarse
        for coarse in findings
        if coarse.signal not in same and any(f.signal in same for f in finer[coarse.signal])
    }:
        same |= more
    onsets = [told.onset for told in same.values() if told.onset is not None]
    first = finding.first
    for told in same.values():
        is_dated = not is_earlier(first, told.first) or first.time is None
        if is_earlier(told.first, first) and is_dated:
            first = told.first
    return Event(replace(finding, onset=min(onsets, default=None)), first)


def _culprits(events: Sequence[Event], relation: Relation) -> dict[str, list[tuple[Link, Finding]]]:
    return {
        event.finding.signal: [
            (link, culprit.finding)
            for culprit in events
            if culprit is not event and (link := accounts_for(culprit, event, relation))
        ]
        for event in events
    }


def _split(
    events: Sequence[Event], culprits: Mapping[str, Sequence[tuple[Link, Finding]]]
) -> tuple[list[Finding], list[Explained]]:
    """Walk from the roots to all that they account for.

    What is left then explains itself in a circle, as `if_earlier` edges may among files without
    clocks: the likeliest of it began it.
    """
    left = sorted((event.finding for event in events), key=_likeliest_first)
    roots = [finding for finding in left if not culprits[finding.signal]]
    explained: list[Explained] = []
    known = {root.signal for root in roots}
    while left := [finding for finding in left if finding.signal not in known]:
        found = [
            Explained(finding, *_likeliest(by))
            for finding in left
            if (by := [pair for pair in culprits[finding.signal] if pair[1].signal in known])
        ]
        if not found:
            roots.append(left[0])
            known.add(left[0].signal)
        explained += found
        known |= {e.finding.signal for e in found}
    return roots, explained


def _likeliest(culprits: Sequence[tuple[Link, Finding]]) -> tuple[Finding, EdgeKind]:
    link, culprit = min(culprits, key=lambda pair: _likeliest_first(pair[1]))
    return culprit, link.kind
