"""The part of a pattern that every match must hold, for a first look at many lines.

An engine that runs a thousand patterns at once looks for plain words ten times faster than for
anything else: `A.*B` makes it remember, byte after byte, that A has been, and counted digits lead
it from state to state. What is looked for first is therefore the longest part made of words alone,
else the longest part between gaps; whoever finds it proves the whole pattern on the line.
"""

from collections.abc import Callable, Iterator

from app.rulebook.tree import Byte, Chain, Choice, Node, Repeat, Text, chain, choice, walk, weight

# Literal characters, blanks aside, that make a part rare enough to stand for the whole. `training `
# and `checkpoint` stand on many a routine line.
_ENOUGH = 9
_ENOUGH_WORDS = 11
_WIDE = 10  # a set of more bytes than the digits
_SHORT = 4  # a repeat up to this long is no gap

_Ends = Callable[[Node], bool]  # whether a part may not hold such a node


def factor(node: Node) -> Node:
    """Give a pattern that meets at least the same lines: words alone, or at least no gaps."""
    if isinstance(node, Choice):
        return choice(*map(factor, node.options))
    if isinstance(node, Chain):
        for ends, enough in ((_is_no_word, _ENOUGH_WORDS), (_is_gap, _ENOUGH)):
            runs = (chain(*run) for run in _runs(node.parts, ends))
            best = max(runs, key=_telling, default=node)
            if _telling(best) >= enough:
                return best
    return node


def _telling(node: Node) -> int:
    texts = [part for part in getattr(node, "parts", (node,)) if isinstance(part, Text)]
    return weight(node) - sum(text.value.count(b" ") for text in texts)


def _runs(parts: tuple[Node, ...], ends: _Ends) -> Iterator[list[Node]]:
    """Cut a chain at all that a part may not hold; a choice that holds such is a run of its own."""
    run: list[Node] = []
    for part in parts:
        if not any(map(ends, walk(part))):
            run.append(part)
            continue
        if run:
            yield run
        if isinstance(part, Choice):
            yield [factor(part)]
        run = []
    if run:
        yield run


def _is_no_word(node: Node) -> bool:
    return not isinstance(node, Text | Chain | Choice) and not weight(node)


def _is_gap(node: Node) -> bool:
    if not isinstance(node, Repeat) or (node.high is not None and node.high <= _SHORT):
        return False
    if isinstance(node.body, Byte):
        return node.body.mask.bit_count() > _WIDE
    return not isinstance(node.body, Text)
