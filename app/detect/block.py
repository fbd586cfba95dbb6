"""One traceback while its lines come in, and those that wait for more of theirs."""

import re
from dataclasses import dataclass, field
from typing import Literal

from app.detect.exception import Named
from app.model import Line

Link = Literal["", "direct", "handling"]
Mark = Literal["", "ignored", "logged", "reported", "thread"]

MOST_MESSAGE = 4096
MOST_FRAMES = 64
_MOST_OPEN = 32
_PATIENCE_TURNS = 400
_RECENT_TURNS = 16
# raise e   raise error from None: what is there already, not `raise Refused(path)`
_RAISES_AGAIN = re.compile(r"raise [A-Za-z_]\w*(?:\.with_traceback\(\w+\))?(?: from \w+)?\Z")


@dataclass(slots=True)
class Block:
    """What was met of one traceback; `named` is None as long as its last line has not come.

    `base` is the column of the exception line: frames stand two columns further in. `again` is the
    innermost frame that raised what had been raised before: further frames stand below it.
    """

    first: Line
    chain: "Chain"
    headed: bool = False
    base: int = 0
    boxed: bool = False
    frames: list[tuple[str, str, str]] = field(default_factory=list)
    code: str = ""
    again: tuple[str, str, str] | None = None
    named: Named | None = None
    line: Line | None = None
    message: list[str] = field(default_factory=list)
    size: int = 0
    blank: bool = False
    quoted: bool = False
    numbers: list[int] = field(default_factory=list)
    nested: list["Chain"] = field(default_factory=list)
    fed: int = 0
    run: int = 0
    number: int = 0

    @property
    def wants_code(self) -> bool:
        """Say that a frame has come and its source line has not."""
        return bool(self.frames) and not self.code

    def feed(self, line: Line, turn: int) -> None:
        """Take a line in; `turn` counts the lines of its printer."""
        self.run = self.run + 1 if turn == self.fed + 1 else 1
        self.fed = turn
        self.number = line.number
        self.numbers.append(line.number)

    def step(self, frame: tuple[str, str, str]) -> None:
        """Add the next frame inwards; of a deep recursion the middle goes."""
        if self.frames and _RAISES_AGAIN.match(self.code):
            self.again = self.frames[-1]
        if len(self.frames) >= MOST_FRAMES:
            del self.frames[MOST_FRAMES // 2]
        self.frames.append(frame)
        self.code = ""

    def name(self, named: Named, line: Line) -> None:
        """Set the exception that the traceback ends with."""
        self.named, self.line = named, line
        self.message, self.size, self.blank = [], 0, False
        self.say(named.message)

    def say(self, text: str) -> None:
        """Add a line to the message as far as there is room."""
        room = MOST_MESSAGE - self.size
        if room > 0 and (text or self.message):
            self.message.append(text[:room])
            self.size += len(text) + 1


@dataclass(slots=True)
class Chain:
    """Tracebacks that Python printed as one, first raised first; `outer` carries them as text.

    `before` are the lines just before it, the nearest first.
    """

    before: tuple[Line, ...] = ()
    mark: Mark = ""
    outer: Block | None = None
    depth: int = 0
    members: list[tuple[Link, Block]] = field(default_factory=list)


class OpenBlocks:
    """The blocks of one printer that still want their exception.

    Without labels, tracebacks of several processes may lie across each other. A line then goes to
    the block that was fed just before if that has been fed in a row, else to the one that has
    waited longest: where processes take turns this deals their lines out in turns, and where they
    fail alike, as ranks do, a wrong deal changes nothing. At most 32 are kept, the oldest is given
    up first; so is one that got nothing for 400 lines of its printer.
    """

    def __init__(self, labelled: bool) -> None:
        self._labelled = labelled
        self._blocks: list[Block] = []

    def __len__(self) -> int:
        return len(self._blocks)

    @property
    def newest(self) -> Block | None:
        """The block that was opened last."""
        return self._blocks[-1] if self._blocks else None

    @property
    def only(self) -> Block | None:
        """The block that a line inside of one belongs to for sure."""
        return self._blocks[0] if len(self._blocks) == 1 else None

    def add(self, block: Block) -> None:
        """Let a block wait for its lines."""
        if len(self._blocks) >= _MOST_OPEN:
            del self._blocks[0]
        self._blocks.append(block)

    def remove(self, block: Block) -> None:
        """Take out a block that has its exception."""
        self._blocks = [other for other in self._blocks if other is not block]

    def give_up(self, turn: int) -> None:
        """Let go of the blocks that have waited in vain."""
        self._blocks = [block for block in self._blocks if turn - block.fed <= _PATIENCE_TURNS]

    def pick(self, turn: int, column: int | None = None) -> Block | None:
        """Choose the block that a line belongs to; one at a `column` ends it, else it is inside."""
        fitting = [
            block
            for block in self._blocks
            if (column is None or column <= block.base or block.boxed)
            and (block.headed or block.fed == turn - 1)
        ]
        if len(fitting) < 2 or self._labelled:
            return fitting[-1] if fitting else None
        recent = [block for block in fitting if turn - block.fed <= _RECENT_TURNS] or fitting
        for block in recent:
            if block.fed == turn - 1 and block.run > 1:
                return block
        return min(recent, key=lambda block: block.fed)
