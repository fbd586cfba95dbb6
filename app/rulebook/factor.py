"""The part of a pattern that every match must hold, for a first look at many lines.

`A.*B` costs an engine that runs hundreds of patterns at once far more than `A` or `B` does: it
must remember, byte after byte, that A has been. What is looked for first is therefore only the
longest literal part between such gaps; whoever finds it proves the whole pattern on the line.
"""

from collections.abc import Iterator

from app.rulebook.tree import Byte, Chain, Choice, Node, Repeat, chain, choice, walk, weight

_ENOUGH = 8  # literal characters that make a part rare enough to stand for the whole
_WIDE = 10  # a set of more bytes than the digits
_SHORT = 4  # a repeat up to this long is no gap


def factor(node: Node) -> Node:
    """Give a pattern that meets at least the same lines, without gaps where that is possible."""
    match node:
        case Choice(options):
            return choice(*map(factor, options))
        case Chain(parts):
            best = max((chain(*run) for run in _runs(parts)), key=weight, default=node)
            return best if weight(best) >= _ENOUGH else node
        case _:
            return node


def _runs(parts: tuple[Node, ...]) -> Iterator[list[Node]]:
    """Cut a chain at its gaps; a choice that holds gaps is a run of its own."""
    run: list[Node] = []
    for part in parts:
        if not any(map(_is_gap, walk(part))):
            run.append(part)
            continue
        if run:
            yield run
        if isinstance(part, Choice):
            yield [factor(part)]
        run = []
    if run:
        yield run


def _is_gap(node: Node) -> bool:
    if not isinstance(node, Repeat) or (node.high is not None and node.high <= _SHORT):
        return False
    return not isinstance(node.body, Byte) or node.body.mask.bit_count() > _WIDE
