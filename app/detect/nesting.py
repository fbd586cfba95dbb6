"""Which exception carries the traceback that comes next, as text within its own message."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.detect.block import Block
from app.detect.exception import carries, is_report
from app.detect.message import interrupts
from app.detect.shape import indent_of, is_divider, split_margin

_DEEPEST = 8
_GROUP_HEAD = "+ Exception Group"
_GROUPS = frozenset({"ExceptionGroup", "BaseExceptionGroup"})
_TABLE = "ChildFailedError"
_EDGE = re.compile(r"\s*[=*]{20,}\s*\Z")


@dataclass(frozen=True, slots=True)
class Margin:
    """A line without the margin of an exception group; `divides` between two of its members."""

    text: str
    divides: bool = False


class Nesting:
    """The exception groups and the launcher's table that are open at one printer."""

    def __init__(self) -> None:
        self._margin: int | None = None
        self._divided = False
        self._groups: list[Block] = []
        self._columns: list[int] = []
        self._table: Block | None = None
        self._edges = 0

    @property
    def active(self) -> bool:
        """Say that lines are still expected."""
        return self._margin is not None or self._table is not None

    @property
    def expects(self) -> bool:
        """Say that an exception may stand further in than at the start of a line."""
        return self._divided or self._table is not None

    def undress(self, text: str) -> Margin:
        """Take off the margin of an exception group."""
        if self._margin is None:
            return Margin(text)
        if is_divider(text):
            self._divided = True
            return Margin("", divides=True)
        if (split := split_margin(text)) is not None:
            self._margin, text = split
        elif text and not text.isspace() and _GROUP_HEAD not in text:
            self._margin, self._divided = None, False
            self._groups.clear()
            self._columns.clear()
        return Margin(text)

    def open_group(self, head: str) -> None:
        """Enter a group whose header stands at the margin itself."""
        if head.lstrip().startswith(_GROUP_HEAD) and self._margin is None:
            self._margin = indent_of(head)

    def outer(self, head: str, talking: Block | None, done: Sequence[Block]) -> Block | None:
        """Find the exception that carries a traceback with this text before its header."""
        block = self._candidate(head, talking, done)
        return None if block is None or block.chain.depth >= _DEEPEST else block

    def _candidate(self, head: str, talking: Block | None, done: Sequence[Block]) -> Block | None:
        if self._margin is not None and self._divided:
            self._divided = False
            while self._columns and self._columns[-1] >= self._margin:
                self._columns.pop()
                self._groups.pop()
            return self._groups[-1] if self._groups else None
        if self._table is not None and "traceback" in head:
            return self._table
        if head.rstrip().endswith("Original"):
            last = done[-1] if done else None
            caught = last is not None and last.named is not None and "Caught" in last.named.message
            return last if caught else None
        if talking is None or talking.named is None:
            return None
        announced = bool(talking.message) and talking.message[-1].endswith(":")
        return talking if carries(talking.named) or (announced and not talking.blank) else None

    def lets_out(self, block: Block) -> bool:
        """Let a launcher's report out of what seemed to carry it: it speaks for itself."""
        chain, outer = block.chain, block.chain.outer
        if outer is None or outer is self._table or outer in self._groups or block.named is None:
            return False
        frames = tuple(":".join(frame) for frame in block.frames)
        if len(chain.members) > 1 or not is_report(block.named, frames):
            return False
        outer.nested.remove(chain)
        chain.outer, chain.depth, chain.before = None, 0, ()
        return True

    def note(self, block: Block) -> None:
        """Remember an exception that may carry others."""
        kind = block.named.type if block.named is not None else ""
        if kind in _GROUPS and self._margin is not None:
            self._groups.append(block)
            self._columns.append(self._margin)
        elif kind == _TABLE:
            self._table, self._edges = block, 0

    def read_edge(self, text: str) -> bool:
        """Read the upper or lower edge of a launcher's table of failures."""
        if self._table is None or not _EDGE.match(text):
            return False
        self._edges += 1
        if self._edges >= 2:
            self._table = None
        return True

    def pass_by(self, text: str) -> None:
        """See a line that nothing wants: in a table it is a record of its own, else the end."""
        if self._edges == 0 or (interrupts(text) and not text.startswith(("-", "["))):
            self._table = None

    def quotes(self, block: Block) -> bool:
        """Say whether quotation marks open what a block carries, rather than close it."""
        if block.named is None or not carries(block.named) or block.quoted or block.nested:
            return False
        block.quoted = True
        return True
