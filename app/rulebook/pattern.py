"""The one canonical, linear-time form of every regex in the rulebook.

An author writes a regex about one line, as for `re`. Three engines run it, and each would read the
same text in its own way, so it is read once and written anew for each of them. What a `Pattern`
promises, for every line without its line end: `exact` and `line` say yes where `re.search` on the
bytes says yes, and nowhere else; `scan` says yes at least there.
"""

from dataclasses import dataclass
from functools import lru_cache

from app.rulebook.edges import can_match, hollow, possible
from app.rulebook.factor import factor
from app.rulebook.forms import line_form, scan_form
from app.rulebook.spelling import spell
from app.rulebook.syntax import MAX_REPEAT, PatternError, read
from app.rulebook.tree import (
    Chain,
    Choice,
    Edge,
    Fact,
    Node,
    Repeat,
    bare,
    size,
    tells,
    walk,
    weight,
    width,
)

__all__ = ["Pattern", "PatternError", "literal_weight", "parse"]

_MAX_SIZE = 10_000  # instructions, about 1 MB in RE2
_MAX_SCAN = 16_000  # characters, Hyperscan's limit
_MAX_OPTIONAL = 20  # the form for lines grows with the square
_MAX_DEPTH = 5  # of repeats; each level multiplies the time that a check takes
_NO_LINE = "no line can match it: an edge stands where it cannot hold, as in `$a`"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regex about one line, as written and as each engine reads it.

    `exact` is for RE2 on the bytes of one line, with the named groups, and LATIN1. `line` is for
    RE2 on values that may still end in `\\n` or `\\r\\n`; several are joined by `|`. `scan` is for
    Hyperscan on many lines at once: it has no edges, since a prefix may stand before the text, and
    it may meet lines that `exact` then refuses. `anchored`: every match begins at the line's start.
    """

    source: str
    exact: str
    line: str
    scan: str
    groups: tuple[str, ...]
    anchored: bool


@lru_cache(maxsize=4096)
def parse(source: str, *, ignore_case: bool = False) -> Pattern:
    """Bring a regex to its canonical form, or say in a PatternError what to write instead."""
    try:
        return _parse(source, ignore_case)
    except RecursionError:
        raise PatternError("nested too deeply; leave out groups that are not needed") from None


@lru_cache(maxsize=4096)
def literal_weight(pattern: Pattern) -> int:
    """Count the literal characters that every match holds: the more, the more specific."""
    return weight(read(pattern.source))


def _parse(source: str, ignore_case: bool) -> Pattern:
    tree = read(source, ignore_case=ignore_case)
    _check_size(tree)
    _check_counts(tree)
    plain = bare(tree)
    _check_meaning(plain)
    left = possible(plain)
    if left is None or not can_match(left):
        raise PatternError(_NO_LINE)
    _check_edges(left)
    line, scan = line_form(left), scan_form(factor(left))
    if line is None or scan is None:
        raise PatternError(_NO_LINE)
    _check_size(line)
    scan_text = spell(scan)
    if len(scan_text) > _MAX_SCAN:
        raise PatternError("too long once its sets are written out; split it into several rules")
    return Pattern(
        source=source,
        exact=spell(tree),
        line=spell(line),
        scan=scan_text,
        groups=tuple(node.name for node in walk(tree) if isinstance(node, Fact)),
        anchored=_anchored(line),
    )


def _check_size(tree: Node) -> None:
    if size(tree) > _MAX_SIZE:
        raise PatternError("too large once its counts are written out; use `*` or `+`")


def _check_counts(node: Node, rounds: int = 1, depth: int = 0) -> None:
    match node:
        case Chain(inner) | Choice(inner):
            for part in inner:
                _check_counts(part, rounds, depth)
        case Fact(_, body):
            _check_counts(body, rounds, depth)
        case Repeat(low, high, body):
            rounds *= max(low if high is None else high, 1)
            if rounds > MAX_REPEAT or depth == _MAX_DEPTH:
                raise PatternError(
                    f"repeats within repeats make more than {MAX_REPEAT} rounds or {_MAX_DEPTH} "
                    "levels; say the inner ones once, with `*` or `+`"
                )
            _check_counts(body, rounds, depth + 1)


def _check_meaning(tree: Node) -> None:
    if not width(tree):
        raise PatternError(
            "it can match without reading a character, and so meets any line; make a part "
            "obligatory, as `a+` for `a*`"
        )
    if not tells(tree):
        raise PatternError(
            "it asks for no particular character, and so meets (nearly) any line; add a word "
            "that only the meant lines hold"
        )


def _check_edges(tree: Node) -> None:
    for node in walk(tree):
        match node:
            case Repeat(_, high, body) if high != 1:
                ways = hollow(body)
                if ways and frozenset() not in ways:
                    raise PatternError(
                        "a repeated part can be a mere edge, as `\\b`; make it read a character"
                    )
                if {Edge("^"), Edge("$")} & set(walk(body)):
                    raise PatternError("`^` or `$` within a repeat holds only once; move it out")
            case Chain(parts) if sum(not width(part) for part in parts) > _MAX_OPTIONAL:
                raise PatternError(f"more than {_MAX_OPTIONAL} optional parts; use `.*` or `|`")


def _anchored(node: Node) -> bool:
    match node:
        case Edge(kind):
            return kind == "^"
        case Chain(parts):
            return any(map(_anchored, parts))
        case Choice(options):
            return all(map(_anchored, options))
        case Repeat(low, _, body):
            return low > 0 and _anchored(body)
        case _:
            return False
