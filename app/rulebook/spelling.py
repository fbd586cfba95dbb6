"""Write a tree as a regex that RE2, Hyperscan and `re` read alike."""

from functools import lru_cache

from app.rulebook.tree import (
    ANY,
    DIGIT,
    NEWLINE,
    WORD,
    Byte,
    Chain,
    Choice,
    Edge,
    Fact,
    Node,
    Repeat,
    Text,
    width,
)

_NAMED = {ANY: ".", DIGIT: r"\d", WORD: r"\w"}  # not `\s`, `\W` …: RE2 and chunks differ there
_PLAIN = frozenset(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _:/,=<>\"'@%&;!~`"
)
_ESCAPES = {byte: f"\\x{byte:02x}" for byte in range(256) if byte not in _PLAIN}


def spell(node: Node) -> str:
    """Write a node; a choice stands without a group, as `|` may join it to others."""
    match node:
        case Byte(mask):
            return _spell_set(mask)
        case Text(value):
            return value.decode("latin-1").translate(_ESCAPES)
        case Edge(kind):
            return kind
        case Chain(parts):
            return "".join(
                _inside(part) if isinstance(part, Choice) else spell(part) for part in parts
            )
        case Choice(options):
            return "|".join(map(spell, options))
        case Fact(name, body):
            return f"(?P<{name}>{spell(body)})"
        case Repeat(low, high, body, lazy):
            atom = isinstance(body, Byte | Fact) or (isinstance(body, Text) and width(body) == 1)
            once = spell(body) if atom else _inside(body)
            return once + _spell_count(low, high) + "?" * lazy


def _inside(node: Node) -> str:
    return f"(?:{spell(node)})"


def _spell_count(low: int, high: int | None) -> str:
    match low, high:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _ if low == high:
            return f"{{{low}}}"
        case _:
            return f"{{{low},{'' if high is None else high}}}"


@lru_cache(maxsize=4096)
def _spell_set(mask: int) -> str:
    if mask in _NAMED:
        return _NAMED[mask]
    if mask.bit_count() == 1:
        return _spell_byte(mask.bit_length() - 1)
    inside, outside = _spell_ranges(mask), _spell_ranges(~mask & (ANY | NEWLINE))
    return f"[^{outside}]" if len(outside) < len(inside) else f"[{inside}]"


def _spell_ranges(mask: int) -> str:
    written, low = [], 0
    while mask >> low:
        low += ((mask >> low) & -(mask >> low)).bit_length() - 1  # the next member
        run = ~(mask >> low)
        high = low + (run & -run).bit_length() - 2  # the last of its neighbours
        written.append(_spell_byte(low))
        if high > low:
            written.append("-" * (high > low + 1) + _spell_byte(high))
        low = high + 1
    return "".join(written)


def _spell_byte(byte: int) -> str:
    return _ESCAPES.get(byte, chr(byte))
