"""A pattern as a tree of byte sets, and what can be read off it.

Sets are masks of 256 bits. The makers `chain`, `choice` and `repeat` keep a tree flat and small;
they may reorder nothing that a named group could see, and are for trees that answer yes or no.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Byte:
    """One byte out of a set; bit b of the mask stands for byte b."""

    mask: int


@dataclass(frozen=True, slots=True)
class Text:
    """Given bytes, one after the other, at least one."""

    value: bytes


@dataclass(frozen=True, slots=True)
class Edge:
    r"""A place between bytes; `\z`, the end of a value past its line end, no author can write."""

    kind: Literal["^", "$", r"\b", r"\B", r"\z"]


@dataclass(frozen=True, slots=True)
class Chain:
    """One part after the other; without parts it matches the empty string."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several, the first preferred."""

    options: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The same part several times; `high` is None where there is no limit."""

    low: int
    high: int | None
    body: "Node"
    lazy: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A named group."""

    name: str
    body: "Node"


Node: TypeAlias = Byte | Text | Edge | Chain | Choice | Repeat | Fact


def mask_of(members: Iterable[int]) -> int:
    """Put bytes into a set."""
    return reduce(lambda mask, byte: mask | 1 << byte, members, 0)


RETURN = mask_of(b"\r")
NEWLINE = mask_of(b"\n")
ANY = mask_of(range(256)) & ~NEWLINE
DIGIT = mask_of(b"0123456789")
UPPER = mask_of(range(ord("A"), ord("Z") + 1))
LOWER = UPPER << 32
WORD = DIGIT | UPPER | LOWER | mask_of(b"_")
SPACE = mask_of(b" \t\r\v\f")
PRINTABLE = mask_of(range(ord(" "), ord("~") + 1))
EMPTY = Chain(())


def chain(*parts: Node) -> Node:
    """Put parts one after the other."""
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Chain) else (part,))
    return flat[0] if len(flat) == 1 else Chain(tuple(flat))


def choice(*options: Node) -> Node:
    """Offer several parts; what all of them begin with is said once."""
    flat: dict[Node, None] = {}
    for option in options:
        flat.update(dict.fromkeys(option.options if isinstance(option, Choice) else (option,)))
    if EMPTY in flat:
        solid = [option for option in flat if option != EMPTY]
        return repeat(0, 1, choice(*solid)) if solid else EMPTY
    if len(flat) == 1:
        return next(iter(flat))
    heads = {option.parts[0] if isinstance(option, Chain) else option for option in flat}
    if len(heads) == 1:
        tails = [Chain(option.parts[1:]) if isinstance(option, Chain) else EMPTY for option in flat]
        return chain(heads.pop(), choice(*(chain(tail) for tail in tails)))
    return Choice(tuple(flat))


def repeat(low: int, high: int | None, body: Node) -> Node:
    """Say a part several times."""
    if high == 0 or body == EMPTY:
        return EMPTY
    return body if (low, high) == (1, 1) else Repeat(low, high, body)


def bare(node: Node) -> Node:
    """Drop names and laziness, on which yes or no does not depend."""
    match node:
        case Fact(_, body):
            return bare(body)
        case Repeat(low, high, body):
            return repeat(low, high, bare(body))
        case Chain(parts):
            return chain(*map(bare, parts))
        case Choice(options):
            return choice(*map(bare, options))
        case _:
            return node


def walk(node: Node) -> Iterator[Node]:
    """Visit a node and all that is in it, from left to right."""
    yield node
    match node:
        case Chain(inner) | Choice(inner):
            for part in inner:
                yield from walk(part)
        case Repeat(_, _, body) | Fact(_, body):
            yield from walk(body)


def width(node: Node) -> int:
    """Count the bytes that the shortest match reads."""
    match node:
        case Byte():
            return 1
        case Text(value):
            return len(value)
        case Edge():
            return 0
        case Chain(parts):
            return sum(map(width, parts))
        case Choice(options):
            return min(map(width, options))
        case Repeat(low, _, body):
            return low * width(body) if low else 0
        case Fact(_, body):
            return width(body)


def size(node: Node) -> int:
    """Estimate the instructions of the compiled pattern, counted repeats written out."""
    match node:
        case Byte(mask):
            return (mask & ~(mask << 1)).bit_count()  # ranges of neighbouring bytes
        case Text(value):
            return len(value)
        case Edge():
            return 1
        case Chain(parts):
            return sum(map(size, parts))
        case Choice(options):
            return sum(map(size, options)) + len(options)
        case Repeat(low, high, body):
            return max(1, low, high or 0) * (size(body) + 1)
        case Fact(_, body):
            return size(body)


def weight(node: Node) -> int:
    """Count the literal characters that every match holds; a letter in either case is one."""
    match node:
        case Byte(mask):
            letter = mask & LOWER
            return int(mask.bit_count() == 1 or (letter != 0 and mask == letter | letter >> 32))
        case Text(value):
            return sum(not 0x80 <= byte < 0xC0 for byte in value)  # UTF-8 goes on in these
        case Edge():
            return 0
        case Chain(parts):
            return sum(map(weight, parts))
        case Choice(options):
            return min(map(weight, options))
        case Repeat(low, _, body):
            return low * weight(body) if low else 0
        case Fact(_, body):
            return weight(body)


def tells(node: Node) -> bool:
    """Say whether every match holds at least one byte that is not (nearly) any byte."""
    match node:
        case Byte(mask):
            return (mask & PRINTABLE).bit_count() < 85
        case Text():
            return True
        case Edge():
            return False
        case Chain(parts):
            return any(map(tells, parts))
        case Choice(options):
            return all(map(tells, options))
        case Repeat(low, _, body):
            return low > 0 and tells(body)
        case Fact(_, body):
            return tells(body)
