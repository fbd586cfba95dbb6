"""Read an author's regex into a tree of byte sets, and refuse what is not regular.

Every set is written out as the bytes it holds, so that no engine can read `\\s`, `.` or `(?i)` in
its own way. A pattern speaks of one line: a newline is never a member of a set.
"""

import re
import warnings
from itertools import groupby

# The parser that `re` itself uses; the stubs leave it out since it may change between versions.
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]

from app.rulebook.tree import (
    ANY,
    DIGIT,
    LOWER,
    SPACE,
    UPPER,
    WORD,
    Byte,
    Chain,
    Choice,
    Edge,
    Fact,
    Node,
    Repeat,
    Text,
    mask_of,
)

MAX_SOURCE = 4096
MAX_REPEAT = 1000  # RE2's limit, for nested repeats multiplied


class PatternError(ValueError):
    """A regex that is refused; the message says where and what to write instead."""

    def __init__(self, fault: str, position: int | None = None) -> None:
        place = "" if position is None else f"at character {position + 1}: "
        super().__init__(place + fault)
        self.position = position


_CLASSES = {
    ops.CATEGORY_DIGIT: DIGIT,
    ops.CATEGORY_NOT_DIGIT: ANY & ~DIGIT,
    ops.CATEGORY_SPACE: SPACE,
    ops.CATEGORY_NOT_SPACE: ANY & ~SPACE,
    ops.CATEGORY_WORD: WORD,
    ops.CATEGORY_NOT_WORD: ANY & ~WORD,
}
_EDGES = {
    ops.AT_BEGINNING: Edge("^"),
    ops.AT_BEGINNING_STRING: Edge("^"),
    ops.AT_END: Edge("$"),
    ops.AT_END_STRING: Edge("$"),
    ops.AT_BOUNDARY: Edge(r"\b"),
    ops.AT_NON_BOUNDARY: Edge(r"\B"),
}

_FOLD = int(re.I)
# Characters U+0080 to U+00FF move up here while the text is parsed, to tell `é` from `\xe9`.
_APART = 0xF0000
_MOVED = {code: _APART | code for code in range(0x80, 0x100)}

_REFUSED = {
    "backreference": (
        r"\\(?![0-3][0-7]{2})[1-9]|\(\?P=",
        "a backreference cannot be searched in linear time; write the repeated text out",
    ),
    "newline": (r"\\n|\n", "a pattern sees one line and never its end; use `$`, or `after:`"),
    "escape": (r"\\[uUN]", "write the character itself"),
    "dialect": (r"\(\?<(?![=!])", "a named group is written `(?P<name>…)`"),
    "name": (r"\(\?P<[^>]*[^>\x00-\x7f]", "name a group in ASCII letters"),
    "lookahead": (
        r"\(\?[=!]",
        "a lookahead cannot be searched in linear time; put what must not be there in `unless:`, "
        "and what must be there into the pattern itself",
    ),
    "lookbehind": (
        r"\(\?<[=!]",
        "a lookbehind cannot be searched in linear time; put what must not be there in `unless:`, "
        "and what must be there into the pattern itself",
    ),
    "atomic": (r"\(\?>", "an atomic group has no meaning without backtracking; write `(?:`"),
    "conditional": (r"\(\?\(", "a conditional is not regular; write both cases with `|`"),
    "flag": (
        r"\(\?[a-zA-Z]*[Lux][a-zA-Z]*[:)]|\(\?[a-zA-Z]*-[a-zA-Z]*[Lux][a-zA-Z]*:",
        "of the flags only `i` is of use; write the pattern on one line, without comments",
    ),
    "possessive": (
        r"(?:[*+?]|\{(?:\d+(?:,\d*)?|,\d*)\})\+",
        "a possessive repeat has no meaning without backtracking; leave out the last `+`",
    ),
}
_SCAN = re.compile(
    "|".join(f"(?P<{name}>{form})" for name, (form, _) in _REFUSED.items())
    + r"|\\.|\[(?P<negated>\^?)(?P<members>\]?(?:\\.|[^]\\])*)\]|\(\?#[^)]*\)"
    + r"|\{(?P<low>\d*)(?:,(?P<high>\d*))?\}",
    re.DOTALL,
)
_CURES = {
    "bad escape": r"; write the character itself, or `\\` for a backslash",
    "unterminated character set": r"; close it with `]`, or write `\[`",
    "missing ), unterminated subpattern": r"; close it with `)`, or write `\(`",
    "unbalanced parenthesis": r"; write `\)` for the character itself",
    "global flags not at the start of the expression": "; put `(?i:` `)` round the part",
    "nothing to repeat": r"; write `\` before it for the character itself",
    "multiple repeat": r"; put `(?:` `)` round the first, or `\` before the second",
}


def read(source: str, *, ignore_case: bool = False) -> Node:
    """Read a regex as `re` reads it for bytes, non-ASCII characters as their UTF-8 bytes."""
    if len(source) > MAX_SOURCE:
        raise PatternError(f"longer than {MAX_SOURCE} characters; split it into several rules")
    _refuse_forms(source)
    try:
        with warnings.catch_warnings():
            # `[[:alpha:]]` is a set of characters for `re`, and so for us.
            warnings.simplefilter("ignore", FutureWarning)
            parsed = _parser.parse(source.translate(_MOVED), re.I | re.A if ignore_case else re.A)
    except re.error as error:
        cures = (cure for start, cure in _CURES.items() if error.msg.startswith(start))
        raise PatternError(error.msg + next(cures, ""), error.pos) from None
    names = {number: name for name, number in parsed.state.groupdict.items()}
    return _Reader(names).chain(parsed, int(parsed.state.flags))


def _refuse_forms(source: str) -> None:
    for found in _SCAN.finditer(source):
        kind = found.lastgroup
        if kind in _REFUSED:
            shown = found[0].replace("\n", r"\n")
            raise PatternError(f"`{shown}`: {_REFUSED[kind][1]}", found.start())
        if found["negated"] and not found["members"].isascii():
            raise PatternError(
                "a character outside ASCII is several bytes and cannot be excluded by `[^…]`; "
                "use `[^\\x80-\\xff]`, or put it in `unless:`",
                found.start(),
            )
        if max(int(found["low"] or 0), int(found["high"] or 0)) > MAX_REPEAT:
            raise PatternError(
                f"`{found[0]}` repeats more than {MAX_REPEAT} times; use `*` or `+`", found.start()
            )


class _Reader:
    """Turns what the parser found into our tree."""

    def __init__(self, names: dict[int, str]) -> None:
        self._names = names

    def chain(self, parsed: _parser.SubPattern, flags: int) -> Node:
        """Read a sequence under the flags that hold in it."""
        parts: list[Node] = []
        for literal, run in groupby(parsed.data, _is_caseless if flags & _FOLD else _is_literal):
            if literal:
                parts.append(Text(_utf8([code for _, code in run])))
            else:
                parts += [self._part(item, flags) for item in run]
        return parts[0] if len(parts) == 1 else Chain(tuple(parts))

    def _part(self, item: object, flags: int) -> Node:
        match item:
            case (ops.LITERAL, int(code)):
                return self._bytes([(ops.LITERAL, code)], flags)
            case (ops.NOT_LITERAL, int(code)):
                return self._bytes([(ops.NEGATE, None), (ops.LITERAL, code)], flags)
            case (ops.IN, list(members)):
                return self._bytes(members, flags)
            case (ops.ANY, _):
                return Byte(ANY)
            case (ops.AT, place):
                return _EDGES[place]
            case (ops.BRANCH, (_, list(branches))):
                return Choice(tuple(self.chain(branch, flags) for branch in branches))
            case (ops.SUBPATTERN, (number, int(added), int(removed), body)):
                inside = self.chain(body, (flags | added) & ~removed)
                return Fact(self._names[number], inside) if number in self._names else inside
            case (ops.MAX_REPEAT | ops.MIN_REPEAT as kind, (int(low), int(high), body)):
                limit = None if high is ops.MAXREPEAT else high
                return Repeat(low, limit, self.chain(body, flags), kind is ops.MIN_REPEAT)
        raise PatternError(f"{item} is not regular; write it with `|` and repeats alone")

    def _bytes(self, members: list[tuple[object, object]], flags: int) -> Node:
        mask = 0
        wide: list[Node] = []
        for member in members:
            match member:
                case (ops.LITERAL, int(code)) if code < 0x100:
                    mask |= 1 << code
                case (ops.LITERAL, int(code)):
                    wide.append(Text(_encoded(code)))
                case (ops.RANGE, (int(first), int(last))) if last < 0x100:
                    mask |= mask_of(range(first, last + 1))
                case (ops.RANGE, _):
                    raise PatternError(
                        "a range of characters outside ASCII is not one of bytes; write them "
                        "one by one, or use `[\\x80-\\xff]+`"
                    )
                case (ops.CATEGORY, name):
                    mask |= _CLASSES[name]
        if flags & _FOLD:
            mask |= (mask & UPPER) << 32 | (mask & LOWER) >> 32
        if members[0][0] is ops.NEGATE:
            mask = ~mask
        mask &= ANY
        if not (mask or wide):
            raise PatternError("a set holds nothing that can stand within one line; leave it out")
        options = [*([Byte(mask)] if mask else []), *wide]
        return options[0] if len(options) == 1 else Choice(tuple(options))


def _is_literal(item: tuple[object, int]) -> bool:
    return item[0] is ops.LITERAL and item[1] != ord("\n")


def _is_caseless(item: tuple[object, int]) -> bool:
    return _is_literal(item) and not chr(item[1]).isalpha()


def _utf8(codes: list[int]) -> bytes:
    if max(codes) < 0x100:
        return bytes(codes)
    return b"".join(bytes([code]) if code < 0x100 else _encoded(code) for code in codes)


def _encoded(code: int) -> bytes:
    character = chr(code & 0xFF if code & _APART == _APART else code)
    return character.encode("utf-8", "surrogatepass")
