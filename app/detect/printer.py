"""Join the lines of one printer to tracebacks.

A printer is a process whose lines carry one label, or everything that carries none. Its lines are
read as what they can be: a header opens a block, frames and source lines fill it, the exception
ends it, and what follows is its message, until somebody else speaks. Words between two blocks chain
them; a header inside a message opens the block that the message carries.
"""

from collections import deque

from app.detect.block import Block, Chain, Link, Mark, OpenBlocks
from app.detect.exception import Named, carries, read_name
from app.detect.message import continues, counts_for_message
from app.detect.native import Native
from app.detect.nesting import Nesting
from app.detect.shape import (
    HEADER,
    Frame,
    behead,
    ends_box,
    indent_of,
    read_box_frame,
    read_frame,
    read_link,
    read_mark,
    shape_of_head,
    starts_box,
    unbox,
)
from app.model import Line

_MOST_DONE = 32
_MOST_MEMBERS = 64
_MARK_HOLDS = 16
_REVIEW_TURNS = 256
_NEAR_TURNS = 16
_MOST_BETWEEN = 3
_QUOTES = ('"""', "'''")


class Printer:
    """Reads one printer; the tracebacks are found in the chains that it adds to `chains`."""

    def __init__(self, labelled: bool, chains: list[Chain]) -> None:
        self._labelled = labelled
        self._chains = chains
        self._turn = 0
        self._before: Line | None = None
        self._recent: deque[Line] = deque(maxlen=_MOST_BETWEEN)
        self._open = OpenBlocks(labelled)
        self._talking: Block | None = None
        self._done: deque[Block] = deque(maxlen=_MOST_DONE)
        self._linked: deque[tuple[Link, Chain, int]] = deque(maxlen=_MOST_DONE)
        self._native = Native(chains)
        self._mark: Mark = ""
        self._marked_at = 0
        self._head = ""
        self._nesting = Nesting()

    @property
    def idle(self) -> bool:
        """Say that nothing is under way, so that a line which starts nothing may pass by."""
        return not (self._open or self._talking or self._linked or self._nesting.active)

    def skip(self, line: Line) -> None:
        """Pass a line by."""
        self._turn += 1
        self._before = line
        self._recent.appendleft(line)

    def feed(self, line: Line, text: str, before: Line | None = None) -> None:
        """Take the next line in; `before` stood before it in the file, whoever printed it."""
        self._turn += 1
        if self._turn % _REVIEW_TURNS == 0:
            self._review()
        if self._head:
            text = behead(text, self._head)
        margin = self._nesting.undress(text)
        if not margin.text or margin.text.isspace():
            self._pause(line, margin.divides)
        elif not (self._read_code(line, margin.text) or self._read_box(line, margin.text)):
            self._read(line, margin.text, before)
        self._before = line
        self._recent.appendleft(line)

    def _review(self) -> None:
        """Let go of what has waited in vain."""
        self._open.give_up(self._turn)
        while self._linked and self._turn - self._linked[0][2] > _REVIEW_TURNS:
            self._linked.popleft()

    def _pause(self, line: Line, divides: bool) -> None:
        if divides:
            self._talking = None
        if self._talking is not None:
            self._talking.blank = True
        if (newest := self._open.newest) is not None:
            newest.number = line.number

    def _read_code(self, line: Line, text: str) -> bool:
        """Read the source line right below a frame, whatever words may stand in it."""
        block = self._open.only
        if block is None or block.fed != self._turn - 1 or not block.wants_code:
            return False
        code = text.lstrip()
        if len(text) - len(code) < block.base + 4 or code.startswith('File "'):
            return False
        block.feed(line, self._turn)
        block.code = code.rstrip()
        return True

    def _read_box(self, line: Line, text: str) -> bool:
        """Read a line of a drawn box; False outside of one."""
        block = self._open.newest
        if block is None or not block.boxed:
            return False
        inner = unbox(text)
        if inner is None and not ends_box(text):
            return False
        block.feed(line, self._turn)
        if inner is not None and (frame := read_box_frame(inner)):
            block.step(frame)
        elif inner is not None and inner.startswith("❱"):
            block.code = inner.rpartition("│")[2].strip()
        return True

    def _read(self, line: Line, text: str, before: Line | None) -> None:
        position = text.find(HEADER)
        if position >= 0:
            self._start(line, text[:position], before)
        elif (link := read_link(text)) is not None:
            self._follow(link)
        elif (mark := read_mark(text)) is not None:
            self._mark, self._marked_at, self._talking = mark, line.number, None
        elif self._nesting.read_edge(text):
            self._talking = self._talking if self._nesting.active else None
        elif (thrown := self._native.read(line, text, self._turn)) is not None:
            self._talking = thrown
        elif (frame := read_frame(text, cells=bool(self._open))) is not None:
            self._step(line, text, *frame)
        else:
            self._read_rest(line, text, indent_of(text))

    def _start(self, line: Line, head: str, before: Line | None) -> None:
        """Open a block at a header."""
        if ": " in head and (named := read_name(head.strip())) is not None and named.sure:
            # XlaRuntimeError: INTERNAL: error calling callback: Traceback (most recent call last):
            self._read_rest(line, head, indent_of(head))
        self._review()
        self._nesting.open_group(head)
        block = self._place(line, head, before)
        block.headed = True
        block.base = indent_of(head) if head.isspace() else 0
        block.boxed = starts_box(head)
        block.feed(line, self._turn)
        self._head = "" if block.boxed else shape_of_head(head)
        self._open.add(block)
        self._talking = None

    def _place(self, line: Line, head: str, before: Line | None, *, bare: bool = False) -> Block:
        """Make a block where it belongs: next in a chain, within an exception, or by itself.

        A `bare` exception is never next in a chain: a traceback is.
        """
        link: Link = ""
        if self._linked and not bare:
            link, chain, _ = self._linked.popleft()
            if len(chain.members) >= _MOST_MEMBERS:
                chain = self._new_chain(line, head, before)
        elif (outer := self._nesting.outer(head, self._talking, self._done)) is not None:
            chain = Chain(outer.chain.before, outer=outer, depth=outer.chain.depth + 1)
            outer.nested.append(chain)
        else:
            chain = self._new_chain(line, head, before)
        block = Block(line, chain, headed=bool(link) or chain.outer is not None)
        chain.members.append((link if chain.members else "", block))
        return block

    def _new_chain(self, line: Line, head: str, before: Line | None) -> Chain:
        mark = self._mark if line.number - self._marked_at <= _MARK_HOLDS else ""
        self._mark = ""
        own = tuple(
            other
            for other in self._recent
            if self._labelled or line.number - other.number <= _MOST_BETWEEN
        )
        if not (own or self._labelled or before is None):
            own = (before,) if line.number - before.number <= _MOST_BETWEEN else ()
        chain = Chain(own, mark or ("reported" if "traceback :" in head else ""))
        self._chains.append(chain)
        return chain

    def _follow(self, link: Link) -> None:
        """Remember that the next traceback belongs to the one that was just met."""
        self._talking = None
        done, newest = (self._done[-1] if self._done else None), self._open.newest
        if newest is not None and (done is None or newest.fed > done.fed):
            self._open.remove(newest)
            self._linked.append((link, newest.chain, self._turn))
        elif done is not None:
            self._done.pop()
            self._linked.append((link, done.chain, self._turn))

    def _step(self, line: Line, text: str, indent: int, frame: Frame) -> None:
        """Take a frame in."""
        block, talking = self._open.pick(self._turn), self._talking
        base = max(indent - 2, 0)
        if block is None and talking is not None and talking.named is not None:
            if not talking.named.sure and talking.frames and talking.base == base:
                # Somebody else's line had passed for the exception: this traceback goes on.
                talking.named = None
                self._open.add(block := talking)
                self._talking = None
            elif not carries(talking.named) and not self._linked:
                self._read_rest(line, text, indent)
                return
        if block is None:
            block = self._place(line, "", None)
            self._open.add(block)
            self._talking = None
        if not block.frames and not block.boxed:
            block.base = base
        block.feed(line, self._turn)
        block.step(frame)

    def _read_rest(self, line: Line, text: str, indent: int) -> None:
        """Read a line that is an exception, source code, part of a message, or none of ours."""
        body = text.strip()
        named = read_name(body)
        if named is not None and self._end(line, named, indent):
            return
        inside = self._open.pick(self._turn) if self._open else None
        if inside is not None and (indent <= inside.base or inside.boxed):
            inside = None
        if inside is not None and inside.wants_code:
            inside.feed(line, self._turn)
            inside.code = body
        elif self._listen(line, text, body, indent):
            return
        elif inside is not None and self._turn - inside.fed <= _NEAR_TURNS:
            inside.feed(line, self._turn)
        else:
            self._nesting.pass_by(text)

    def _end(self, line: Line, named: Named, indent: int) -> bool:
        """End a block with its exception, or begin one that has no traceback."""
        block = self._open.pick(self._turn, indent) if self._open else None
        if block is not None and not (named.sure or self._fits(line, block, indent)):
            return False
        if block is None:
            talking = self._talking
            within = talking is not None and (indent > talking.base or not named.sure)
            if not named.sure or within or (indent and not self._nesting.expects):
                return False
            block = self._place(line, "", None, bare=True)
            block.base = indent
        self._open.remove(block)
        if block.boxed:
            block.base = indent
        block.feed(line, self._turn)
        block.name(named, line)
        if self._nesting.lets_out(block):
            self._chains.append(block.chain)
        self._done.append(block)
        self._nesting.note(block)
        self._talking = block
        return True

    def _fits(self, line: Line, block: Block, indent: int) -> bool:
        # A name that need not be an exception's counts only right below the frames.
        near = self._labelled or line.number - block.number <= 1
        return block.headed and bool(block.frames) and near and indent == block.base

    def _listen(self, line: Line, text: str, body: str, indent: int) -> bool:
        """Add a line to the message that is being told."""
        block = self._talking
        if block is None:
            return False
        if body in _QUOTES:
            return self._quote(line, block)
        before = self._before
        near = before is not None and line.number - before.number <= 1
        if not continues(block, line, text, indent, adjacent=near or is_labelled(line)):
            self._talking = None
            return False
        block.feed(line, self._turn)
        if counts_for_message(body):
            block.say(text[block.base :].rstrip())
        return True

    def _quote(self, line: Line, block: Block) -> bool:
        """Enter a quoted traceback, or return from it to the exception that quotes it."""
        if self._nesting.quotes(block):
            block.feed(line, self._turn)
            return True
        self._talking = None
        outer: Block | None = block
        while outer is not None and not outer.quoted:
            outer = outer.chain.outer
        if outer is None:
            return False
        outer.quoted = False
        outer.feed(line, self._turn)
        self._done.append(outer)
        return True


def is_labelled(line: Line) -> bool:
    """Say whether a line tells who printed it."""
    return bool(line.stream) or line.rank is not None
