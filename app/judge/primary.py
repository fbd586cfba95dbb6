"""Pick the finding that no other present finding explains.

A log rarely names one fault. A broken link kills one rank, the others time out, the launcher
reports a failed child: four causes are present and one of them is to be fixed. The rulebook knows
which cause explains which; here that relation is laid over what was found.
"""

from collections.abc import Sequence

from app.model import Explained, Finding, Line, Ranking, Strength
from app.rulebook.relation import Link, Relation
from app.rulebook.rulebook import Rulebook

_WEIGHT: dict[Strength, int] = {"proof": 3, "clue": 2, "echo": 1, "context": 0}


def rank(findings: Sequence[Finding], rulebook: Rulebook) -> Ranking:
    """Split the findings into roots, likeliest first, and those that something explains.

    Two roots mean that the log holds two faults or that the rulebook lacks an edge. Both are
    returned: to hide the second would be to guess. There is a root whenever there are findings.
    """
    merged, refined = _refine(findings, rulebook)
    explained = _explain(merged, rulebook.relation)
    roots = [finding for finding in merged if finding.signal not in explained]
    if not roots and merged:  # `if_earlier` edges met in a circle: the earliest began it
        first = min(merged, key=_likeliest_first)
        explained.pop(first.signal)
        roots = [first]
    return Ranking(
        roots=tuple(sorted(roots, key=_likeliest_first)),
        explained=(*refined, *explained.values()),
    )


def _likeliest_first(finding: Finding) -> tuple[int, float, int, int]:
    # Proof goes before clue, clue before echo; then the earlier, since later may be wreckage.
    line = finding.first
    began = finding.onset if finding.onset is not None else float("inf")
    return -_WEIGHT[finding.strength], began, line.file, line.number


def _refine(
    findings: Sequence[Finding], rulebook: Rulebook
) -> tuple[list[Finding], list[Explained]]:
    """Merge findings into those that tell the same event in more detail."""
    left = list(findings)
    merged: list[Explained] = []
    for finding in findings:
        signal = rulebook.signal_named.get(finding.signal)
        for other in list(left):
            if signal is None or other is finding or finding not in left:
                continue
            if other.signal in signal.refines or other.cause in signal.refines:
                left.remove(other)
                merged.append(Explained(other, finding, "refines"))
    return left, merged


def _explain(findings: Sequence[Finding], relation: Relation) -> dict[str, Explained]:
    explained: dict[str, Explained] = {}
    for finding in findings:
        culprits = [
            (link, culprit)
            for culprit in findings
            if culprit is not finding and (link := _accounts_for(culprit, finding, relation))
        ]
        if culprits:
            link, culprit = min(culprits, key=lambda pair: _likeliest_first(pair[1]))
            explained[finding.signal] = Explained(finding, culprit, link.kind)
    return explained


def _accounts_for(culprit: Finding, finding: Finding, relation: Relation) -> Link | None:
    """Say whether one finding accounts for another in this very log.

    What is weaker never explains a proof: a warning beside a hardware error did not cause it.
    """
    link = relation.link((culprit.cause, culprit.signal), (finding.cause, finding.signal))
    if link is None or not _in_scope(culprit, finding, link):
        return None
    if finding.strength == "proof" and culprit.strength != "proof" and not _is_wait(finding):
        return None
    if finding.strength != "echo" and culprit.strength == "echo":
        return None
    if link.kind == "if_earlier" and not _came_first(culprit, finding):
        return None
    back = relation.link((finding.cause, finding.signal), (culprit.cause, culprit.signal))
    if back and back.kind == "always" and link.kind == "if_earlier":
        return None
    return link


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


def _came_first(culprit: Finding, finding: Finding) -> bool:
    """Compare by clock where both have one, else by place in one file.

    Files without clocks cannot be ordered; there the edge is given the benefit of the doubt.
    """
    own, other = culprit.first, finding.first
    apart = own.time != other.time or own.file != other.file
    if own.time is not None and other.time is not None and apart:
        return own.time <= other.time
    return own.file != other.file or _place(own) < _place(other)


def _place(line: Line) -> tuple[int, int]:
    return line.file, line.number
