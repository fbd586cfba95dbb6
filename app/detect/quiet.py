"""Which rank went quiet first: the one whose steps end before those of all others."""

from collections import Counter
from collections.abc import Iterator, Sequence

from app.located import Suspect
from app.model import Point

_FEWEST_STEPS = 3
_FEWEST_RANKS = 3
_MOST = 2


def quiet_ones(points: Sequence[Point]) -> Iterator[Suspect]:
    """Name the few ranks that made fewer steps than the rest, which all came equally far."""
    last: dict[int, int] = {}
    seen: Counter[int] = Counter()
    for point in points:
        if point.rank is not None and point.step is not None:
            last[point.rank] = max(point.step, last.get(point.rank, 0))
            seen[point.rank] += 1
    of_rank = {rank: step for rank, step in last.items() if seen[rank] >= _FEWEST_STEPS}
    if len(of_rank) < _FEWEST_RANKS:
        return
    furthest, count = Counter(of_rank.values()).most_common(1)[0]
    few = sorted(rank for rank, step in of_rank.items() if step < furthest)
    if len(few) <= _MOST and count == len(of_rank) - len(few):
        for rank in few:
            yield Suspect(rank=rank, why=f"made step {of_rank[rank]} last, the others {furthest}")
