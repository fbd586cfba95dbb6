"""Which rank did not say what all others said, or does something else than all others do.

Where everybody opens, loads, saves or arrives, the one that does not say so has not: `Saved shard`
by fifteen of sixteen. Rank 0 often speaks in other words than the rest, so that it tells nothing.
A list of what each rank does, as monitors take it, tells by the one that is in another place:

    rank 0: wait <- barrier <- save_checkpoint      rank 74: join <- write_shard
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from app.detect.alike import in_kind
from app.located import Suspect
from app.model import Line

_FEWEST = 4  # ranks
_FEWEST_ALIKE = 3  # of a list
_FEWEST_WORDS = 2
_WORD = re.compile(r"[^\W\d_]{3,}")
_OF_A_RANK = re.compile(
    r"(?P<head>.{0,40}?)\b[rR]ank[ #:=_]{0,2}(?P<rank>\d{1,6})\]?:? +(?P<does>\S.*)"
)
_NUMBER = re.compile(r"\d+")


def left_out(lines: Sequence[Line]) -> Iterator[Suspect]:
    """Name the one rank that all other ranks are ahead of, or that is in another place."""
    yield from _silent_on_it(lines)
    yield from _elsewhere(lines)


def _silent_on_it(lines: Sequence[Line]) -> Iterator[Suspect]:
    said: dict[str, set[int]] = defaultdict(set)
    for line in lines:
        if line.rank is not None and len(_WORD.findall(line.text)) >= _FEWEST_WORDS:
            said[in_kind(line)].add(line.rank)
    ranks = set().union(*said.values())
    if len(ranks) < _FEWEST or ranks not in said.values():
        return
    missing = {
        next(iter(ranks - own)): kind for kind, own in said.items() if len(own) == len(ranks) - 1
    }
    if len(missing) == 1 and 0 not in missing:
        yield Suspect(rank=next(iter(missing)), why="did not say what all other ranks said")


def _elsewhere(lines: Sequence[Line]) -> Iterator[Suspect]:
    listed: dict[tuple[int, str], dict[int, str]] = defaultdict(dict)
    for line in lines:
        if line.rank is None and (told := _OF_A_RANK.match(line.text)):
            head = line.file, _NUMBER.sub("#", told["head"])
            listed[head][int(told["rank"])] = _NUMBER.sub("#", told["does"])
    for does in listed.values():
        counted = Counter(does.values()).most_common()
        if len(counted) == 2 and counted[0][1] >= _FEWEST_ALIKE and counted[1][1] == 1:
            odd = next(rank for rank, what in does.items() if what == counted[1][0])
            if odd:
                yield Suspect(rank=odd, why="is in another place than all others")
