"""Places that stand out when everybody waits: who is blamed, who differs, who fell silent first."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from app.detect.collectives import odd_ones
from app.detect.left_out import left_out
from app.detect.quiet import quiet_ones
from app.located import Suspect
from app.model import Line, Marked, Point

_MOST = 4
_NUMBER = re.compile(r"\d{1,6}")


def leads(
    lines: Sequence[Line], marks: Iterable[Marked], points: Sequence[Point]
) -> tuple[Suspect, ...]:
    """Give the likeliest first, each place once, with what it stands out by."""
    found: dict[tuple[str | None, int | None], Suspect] = {}
    for lead in (*blamed(marks), *odd_ones(lines), *quiet_ones(points), *left_out(lines)):
        found.setdefault((lead.host, lead.rank), lead)
    return tuple(found.values())


def blamed(marks: Iterable[Marked]) -> Iterator[Suspect]:
    """Name whom marks of kind `blame` accuse, those first whom most lines name."""
    votes: Counter[tuple[str | None, int | None]] = Counter()
    for mark in marks:
        if mark.kind != "blame":
            continue
        ranks = [int(text) for text in _NUMBER.findall(mark.facts.get("peer_rank", ""))]
        host = mark.facts.get("peer_host") or mark.facts.get("peer")
        if ranks and len(ranks) <= _MOST:
            votes.update((host, rank) for rank in ranks)
        elif host:
            votes[host, None] += 1
    for (host, rank), count in votes.most_common(_MOST):
        yield Suspect(host, rank, why=f"named by {count} line{'s' * (count > 1)}")
