r"""Shape a pattern for the engines that answer yes or no on whole lines.

Both ends are trimmed: an engine is done at the earliest end, and Hyperscan reports every end that
it sees. What makes it hard is the end of a line. RE2 over whole values cannot say "before `\r\n`"
without reading these bytes, and a set at the end of a pattern would take that `\r` for text. So
the last byte which a match can read is looked at, and may be `\r` only where the line goes on.
"""

from collections.abc import Iterable, Iterator

from app.rulebook.edges import Edges, hollow, outer, possible
from app.rulebook.tree import (
    ANY,
    EMPTY,
    NEWLINE,
    RETURN,
    Byte,
    Chain,
    Choice,
    Edge,
    Node,
    Repeat,
    Text,
    chain,
    choice,
    repeat,
    size,
    walk,
    width,
)

_MANY = 16  # above it a count becomes `{n,}`: Hyperscan compiles for seconds where they meet

_RETURN = Byte(RETURN)
_LINE_END = chain(Repeat(0, 1, Byte(NEWLINE)), Edge(r"\z"))
_RETURN_OR_LINE_END = chain(Repeat(0, 1, _RETURN), _LINE_END)


def line_form(node: Node) -> Node | None:
    """Mean the same on a line that may keep its line end; None if nothing can match."""
    return _close(_trim(_trim(node, right=True), right=False))


def scan_form(node: Node) -> Node | None:
    """Meet at least the same lines wherever they stand in a chunk, with few ends."""
    inside = _trim(_trim(node, right=True, loose=True), right=False, loose=True)
    # A `^` or `$` that is left has text on either side: its branch is dead.
    alive = possible(inside, before=ANY, behind=ANY)
    return alive and _few_counts(alive)


def _trim(node: Node, *, right: bool, loose: bool = False) -> Node:
    # Drops from one end what a search can do without; if loose, edges too, which widens it.
    match node:
        case Chain(parts):
            return _trim_chain(list(parts if right else reversed(parts)), right, loose)
        case Choice(options):
            return choice(*(_trim(option, right=right, loose=loose) for option in options))
        case Repeat(low, _, body) if low:
            end = _trim(body, right=right, loose=loose)
            rest = repeat(low - 1, low - 1, body)
            if end == body:
                return repeat(low, low, body)
            return chain(rest, end) if right else chain(end, rest)
        case _:
            return EMPTY if _needless(node, loose) else node


def _trim_chain(parts: list[Node], right: bool, loose: bool) -> Node:
    end = Edge("$" if right else "^")
    while parts:
        outermost = parts.pop()
        match parts[-1:]:
            case [Repeat(low, None, Byte(mask) as body)] if outermost == end and mask == ANY:
                parts[-1] = repeat(low, low, body)  # `.*$` asks for nothing, `.+$` for one byte
                continue
        trimmed = _trim(outermost, right=right, loose=loose)
        if not _needless(trimmed, loose):
            parts.append(trimmed)
            break
    return chain(*(parts if right else reversed(parts)))


def _needless(part: Node, loose: bool) -> bool:
    return width(part) == 0 if loose else frozenset() in hollow(part)


def _close(node: Node, after: Edges = frozenset()) -> Node | None:
    # Matches that read a byte and then hold `after`, on values that keep their line end.
    if "^" in after or after >= {r"\b", r"\B"}:
        return None
    if _settled(node):
        return chain(node, *_edges(after))
    match node:
        case Byte(mask):
            return _close_byte(mask, after)
        case Text(value):  # it ends with a carriage return
            return _close_chain(Text(value[:-1]) if value[1:] else EMPTY, _RETURN, after)
        case Chain((*front, last)):
            return _close_chain(chain(*front), last, after)
        case Choice(options):
            return _either(_close(option, after) for option in options)
        case Repeat(low, high, body):
            rest = repeat(max(low - 1, 0), None if high is None else high - 1, body)
            end = _close(body, after)
            return end and chain(rest, end)
        case _:
            return None


def _close_byte(mask: int, after: Edges) -> Node | None:
    found: list[Node] = []
    if mask & ~RETURN:
        found.append(chain(Byte(mask & ~RETURN), *_edges(after)))
    if "$" in after and r"\b" not in after:
        found.append(chain(_RETURN, *_edges(after - {"$"}), _RETURN, _LINE_END))
    elif "$" not in after:
        found.append(chain(_RETURN, *_edges(after), Byte(ANY)))
    return _either(found)


def _close_chain(front: Node, last: Node, after: Edges) -> Node | None:
    match last:
        case Repeat(0, None, Byte()) if after == {"$"} and _settled(front):
            # What reads the `\r` of the line end might as well have stopped before it.
            return chain(front, last, *_edges(after))
    ways = dict.fromkeys(after | way for way in hollow(last))
    found = [_close(front, way) for way in ways]
    end = _close(last, after)
    # Where the last part reads a byte, nothing in front of it stands at the end of the line.
    if end and (inside := possible(front, behind=ANY)):
        found.append(chain(inside, end))
    return _either(found)


def _settled(node: Node) -> bool:
    # The line end cannot be mistaken for its last byte, and no `$` in it looks for the line end.
    safe = width(node) > 0 and not outer(node, last=True) & RETURN
    return safe and Edge("$") not in walk(node)


def _edges(after: Edges) -> Iterator[Node]:
    # `$` goes last, since it reads what the others look at.
    for kind in (r"\b", r"\B"):
        if kind in after:
            yield Edge(kind)
    if "$" in after:
        yield _RETURN_OR_LINE_END


def _either(found: Iterable[Node | None]) -> Node | None:
    options = [option for option in found if option is not None]
    return choice(*options) if options else None


def _few_counts(node: Node) -> Node:
    match node:
        case Chain(parts):
            return chain(*map(_few_counts, parts))
        case Choice(options):
            return choice(*map(_few_counts, options))
        case Repeat(low, high, body):
            body = _few_counts(body)
            room = max(1, _MANY // size(body))
            if max(low, high or 0) > room:
                low, high = min(low, room), None
            return repeat(low, high, body)
        case _:
            return node
