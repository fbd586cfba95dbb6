"""Exceptions that the C++ runtime tells of before it aborts the process."""

import re
from collections import deque

from app.detect.block import Block, Chain
from app.detect.exception import Named
from app.model import Line

_MOST_WAITING = 32
_WHAT = "what():"
# terminate called after throwing an instance of 'c10::Error'
# libc++abi: terminating due to uncaught exception of type c10::Error: CUDA error
_THROWN = re.compile(
    r"terminate called after throwing an instance of '(?P<thrown>[^'\n]{1,200})'"
    r"|terminating (?:due to|with) uncaught exception of type (?P<uncaught>\w[\w:<>]{0,200}?)"
    r"(?:: (?P<message>.*)|\s*\Z)"
)


class Native:
    """Joins `terminate called …` to the `what():` that follows, of several processes in turn."""

    def __init__(self, chains: list[Chain]) -> None:
        self._chains = chains
        self._waiting: deque[Block] = deque(maxlen=_MOST_WAITING)

    def read(self, line: Line, text: str, turn: int) -> Block | None:
        """Take a line in; give the block that it belongs to, None if to no such exception."""
        block = None
        if "terminat" in text:
            for match in _THROWN.finditer(text):
                block = self._throw(line, match, turn)
        if _WHAT in text and self._waiting:
            block = self._waiting.popleft()
            if block.named is not None:
                said = Named(block.named.qualified, text.partition(_WHAT)[2].strip(), sure=True)
                block.feed(line, turn)
                block.name(said, line)
        return block

    def _throw(self, line: Line, match: re.Match[str], turn: int) -> Block:
        block = Block(line, Chain(), headed=True)
        block.chain.members.append(("", block))
        block.feed(line, turn)
        named = Named(match["thrown"] or match["uncaught"], match["message"] or "", sure=True)
        block.name(named, line)
        self._chains.append(block.chain)
        if match["thrown"]:
            self._waiting.append(block)
        return block
