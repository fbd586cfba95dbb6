"""Find what can match at all, given what edges ask of their neighbours.

Edges make dead ends, as `$a`, `a\bb` or a `^` behind a word. Hyperscan refuses a pattern that can
match nothing, or with a `$` inside it, and an author who wrote one meant something else.
"""

from collections.abc import Iterable
from functools import reduce
from itertools import count
from typing import TypeAlias

from app.rulebook.tree import (
    ANY,
    EMPTY,
    WORD,
    Byte,
    Chain,
    Choice,
    Edge,
    Fact,
    Node,
    Repeat,
    Text,
    chain,
    choice,
    repeat,
    width,
)

Edges: TypeAlias = frozenset[str]

OUTSIDE = 1 << 256  # in a mask of neighbours: the start or the end of the line
ANYWHERE = ANY | OUTSIDE

# A place in a line: the kind of what stands before it, and the kinds that may stand behind it.
_Place: TypeAlias = tuple[int, int]
_NOTHING, _LETTER, _OTHER = 1, 2, 4
_KINDS = _NOTHING | _LETTER | _OTHER


def hollow(node: Node) -> tuple[Edges, ...]:
    """List what must hold at a place where the node reads no byte; nothing, if it always reads.

    Where it may always stay empty, the answer is one empty set.
    """
    ways: list[Edges] = []
    match node:
        case Edge(kind):
            ways = [frozenset({kind})]
        case Chain(parts):
            ways = [frozenset()]
            for part in parts:
                ways = list({one | other: None for one in ways for other in hollow(part)})
        case Choice(options):
            ways = [way for option in options for way in hollow(option)]
        case Repeat(low, _, body):
            ways = list(hollow(body)) if low else [frozenset()]
        case Fact(_, body):
            ways = list(hollow(body))
    return (frozenset(),) if frozenset() in ways else tuple(dict.fromkeys(ways))


def outer(node: Node, *, last: bool) -> int:
    """Collect the bytes that a match can begin with, or end with."""
    match node:
        case Byte(mask):
            return mask
        case Text(value):
            return 1 << value[-1 if last else 0]
        case Chain(parts):
            found = 0
            for part in reversed(parts) if last else parts:
                found |= outer(part, last=last)
                if width(part):
                    break
            return found
        case Choice(options):
            return reduce(int.__or__, (outer(option, last=last) for option in options))
        case Repeat(_, _, body) | Fact(_, body):
            return outer(body, last=last)
        case _:
            return 0


def possible(node: Node, before: int = ANYWHERE, behind: int = ANYWHERE) -> Node | None:
    r"""Drop the branches that can match nothing, as `$a` or `a\bb`; None if that is all of it.

    The masks hold what may stand directly before and behind.
    """
    match node:
        case Edge(kind):
            return node if _holds(kind, before, behind) else None
        case Chain(parts):
            return _possible_chain(parts, before, behind)
        case Choice(options):
            left = [found for option in options if (found := possible(option, before, behind))]
            return choice(*left) if left else None
        case Repeat(low, high, body):
            if high != 1:
                before |= outer(body, last=True)
                behind |= outer(body, last=False)
            inside = possible(body, before, behind)
            if inside is None:
                return None if low else EMPTY
            return repeat(low, high, inside)
        case _:
            return node


def _possible_chain(parts: tuple[Node, ...], before: int, behind: int) -> Node | None:
    rights = []
    for part in reversed(parts):
        rights.append(behind)
        behind = _past(part, behind, "$", last=False)
    kept = []
    for part, right in zip(parts, reversed(rights), strict=True):
        found = possible(part, before, right)
        if found is None:
            return None
        kept.append(found)
        before = _past(part, before, "^", last=True)
    return chain(*kept)


def _past(part: Node, beyond: int, end: str, *, last: bool) -> int:
    # What a neighbour of the part sees: its outer bytes, and what lies beyond it if it is empty.
    if isinstance(part, Edge):
        return beyond & OUTSIDE if part.kind == end else beyond
    return outer(part, last=last) | (0 if width(part) else beyond)


def _holds(kind: str, before: int, behind: int) -> bool:
    if kind == "^":
        return bool(before & OUTSIDE)
    if kind == "$":
        return bool(behind & OUTSIDE)
    if kind == r"\b":
        return bool((before & WORD and behind & ~WORD) or (before & ~WORD and behind & WORD))
    return bool((before & WORD and behind & WORD) or (before & ~WORD and behind & ~WORD))


def can_match(node: Node) -> bool:
    """Say whether any line meets the pattern."""
    anywhere = frozenset((kind, _KINDS) for kind in (_NOTHING, _LETTER, _OTHER))
    return bool(_places_after(node, anywhere))


def _places_after(node: Node, places: frozenset[_Place]) -> frozenset[_Place]:
    match node:
        case Byte(mask):
            return _read((mask,), places)
        case Text(value):
            return _read((1 << value[0], 1 << value[-1]), places)
        case Edge(kind):
            held = ((before, _narrowed(kind, before, behind)) for before, behind in places)
            return frozenset(place for place in held if place[1])
        case Chain(parts):
            return reduce(lambda found, part: _places_after(part, found), parts, places)
        case Choice(options):
            return frozenset().union(*(_places_after(option, places) for option in options))
        case Repeat(low, high, body):
            for _ in range(low):
                places = _places_after(body, places)
            more = places
            for _ in count() if high is None else range(high - low):
                more = _places_after(body, more)
                if more <= places:
                    break
                places |= more
            return places
        case _:
            return places


def _read(masks: Iterable[int], places: frozenset[_Place]) -> frozenset[_Place]:
    for mask in masks:
        kinds = (_LETTER if mask & WORD else 0) | (_OTHER if mask & ~WORD else 0)
        kinds &= reduce(int.__or__, (behind for _, behind in places), 0)
        places = frozenset((kind, _KINDS) for kind in (_LETTER, _OTHER) if kind & kinds)
    return places


def _narrowed(edge: str, before: int, behind: int) -> int:
    if edge == "^":
        return behind if before == _NOTHING else 0
    if edge == "$":
        return behind & _NOTHING
    beside_letter = (before == _LETTER) == (edge == r"\B")
    return behind & (_LETTER if beside_letter else _NOTHING | _OTHER)
