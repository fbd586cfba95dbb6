"""Pick the finding that no other present finding explains.

A log rarely names one fault. A broken link kills one rank, the others time out, the launcher
reports a failed child: four causes are present and one of them is to be fixed. The rulebook knows
which cause explains which; here that relation is laid over what was found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.model import Explained, Finding, Line, Ranking, Strength
from app.rulebook.cause import EdgeKind
from app.rulebook.relation import Link, Relation
from app.rulebook.rulebook import Rulebook

_WEIGHT: dict[Strength, int] = {"proof": 3, "clue": 2, "echo": 1, "context": 0}


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


def _likeliest_first(finding: Finding) -> tuple[int, float, int, int]:
    # Proof goes before clue, clue before echo; then the earlier, since later may be wreckage.
    line = finding.first
    began = finding.onset if finding.onset is not None else float("inf")
    return -_WEIGHT[finding.strength], began, line.file, line.number


@dataclass(frozen=True, slots=True)
class _Event:
    """A finding with the line where what it tells of was seen first, if by others."""

    finding: Finding
    first: Line


def _refine(
    findings: Sequence[Finding], rulebook: Rulebook
) -> tuple[list[_Event], list[Explained]]:
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
    signal = rulebook.signal_named.get(fine.signal)
    return signal is not None and not {coarse.signal, coarse.cause}.isdisjoint(signal.refines)


def _inherited(
    finding: Finding, findings: Sequence[Finding], finer: Mapping[str, Sequence[Finding]]
) -> _Event:
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
        if _is_earlier(told.first, first) and not _is_earlier(first, told.first):
            first = told.first
    return _Event(replace(finding, onset=min(onsets, default=None)), first)


def _culprits(
    events: Sequence[_Event], relation: Relation
) -> dict[str, list[tuple[Link, Finding]]]:
    return {
        event.finding.signal: [
            (link, culprit.finding)
            for culprit in events
            if culprit is not event and (link := _accounts_for(culprit, event, relation))
        ]
        for event in events
    }


def _split(
    events: Sequence[_Event], culprits: Mapping[str, Sequence[tuple[Link, Finding]]]
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


def _accounts_for(by: _Event, event: _Event, relation: Relation) -> Link | None:
    """Say whether one finding accounts for another in this very log.

    What is weaker never explains a proof: a warning beside a hardware error did not cause it.
    """
    culprit, finding = by.finding, event.finding
    link = relation.link((culprit.cause, culprit.signal), (finding.cause, finding.signal))
    if link is None or not _in_scope(culprit, finding, link):
        return None
    if finding.strength == "proof" and culprit.strength != "proof" and not _is_wait(finding):
        return None
    if finding.strength != "echo" and culprit.strength == "echo":
        return None
    if link.kind == "if_earlier" and not _is_earlier(by.first, event.first):
        return None
    back = relation.link((finding.cause, finding.signal), (culprit.cause, culprit.signal))
    return None if back and _goes_before(back, link, event, by) else link


def _goes_before(back: Link, link: Link, event: _Event, by: _Event) -> bool:
    """Say whether two findings that could explain each other do so the other way round.

    What rules state goes before what follows from a chain of them, and any order before one order.
    """
    if back.is_stated != link.is_stated:
        holds = back.kind == "always" or _is_earlier(event.first, by.first)
        return back.is_stated and holds
    return back.kind == "always" and link.kind == "if_earlier"


def _is_wait(finding: Finding) -> bool:
    """Waiting that ran out is proof of waiting only; a clue may say what was waited for."""
    return finding.cause in ("NCCLTimeoutError", "NCCLRemoteError", "Stalled", "Cancelled")


def _in_scope(culprit: Finding, finding: Finding, link: Link) -> bool:
    if link.scope == "job":
        return True
    if link.scope == "same_host":
        own, other = _hosts(culprit), _hosts(finding)
        return not own or not other or bool(own & other)
    own_ranks, other_ranks = _ranks(culprit), _ranks(finding)
    if not own_ranks or not other_ranks:
        return True
    if link.scope == "same_rank":
        return bool(own_ranks & other_ranks)
    return bool(other_ranks - own_ranks)


def _ranks(finding: Finding) -> set[int]:
    return {s.line.rank for s in finding.sightings if s.line.rank is not None}


def _hosts(finding: Finding) -> set[str]:
    return {s.line.host for s in finding.sightings if s.line.host}


def _is_earlier(own: Line, other: Line) -> bool:
    """Compare by clock where both have one, else by place in one file.

    Files without clocks cannot be ordered; there the edge is given the benefit of the doubt. What
    stands in no file is the scheduler's word, which comes last.
    """
    if own.file < 0 or other.file < 0:
        return other.file < 0 <= own.file
    apart = own.time != other.time or own.file != other.file
    if own.time is not None and other.time is not None and apart:
        return own.time <= other.time
    return own.file != other.file or _place(own) < _place(other)


def _place(line: Line) -> tuple[int, int]:
    return line.file, line.number
