"""Text of a known width for a terminal, or of any width for a pipe."""

import os
import re
import shutil
import textwrap
import unicodedata
from typing import Literal, TextIO

Mark = Literal["strong", "faint", "good", "fair", "poor"]

_CODES: dict[Mark, str] = {
    "strong": "1",
    "faint": "2",
    "good": "1;32",
    "fair": "1;33",
    "poor": "1;31",
}
_PROSE = 100  # where the width is not known
_NARROWEST = 40
_COMMAND = re.compile("`[^`]*`")
_HARD_SPACE = "\0"


class Page:
    """Writes to one stream; colours only for a terminal whose owner has not declined them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        told = shutil.get_terminal_size((0, 0)).columns if _has_width(stream) else 0
        self._width = max(told, _NARROWEST) if told else None
        self._colours = (
            stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        )

    def marked(self, text: str, mark: Mark) -> str:
        """Give a text its colour."""
        return f"\033[{_CODES[mark]}m{text}\033[0m" if self._colours else text

    def line(self, *parts: str) -> None:
        """Write one line as it is; its parts are ours, or were made printable."""
        print(*parts, sep="", file=self._stream)

    def heading(self, title: str, more: str = "") -> None:
        """Begin a section."""
        self.line()
        self.line(self.marked(title, "strong"), f": {printable(more)}" if more else "")

    def prose(self, text: str, indent: int = 0, hang: int = 0) -> None:
        """Write words, folded between words and never within a `command`."""
        held = _COMMAND.sub(lambda found: found[0].replace(" ", _HARD_SPACE), printable(text))
        folded = textwrap.wrap(
            held,
            width=self._width or _PROSE,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + hang),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in folded:
            self.line(line.replace(_HARD_SPACE, " "))

    def whole(self, text: str, indent: int = 0) -> None:
        """Write a line that somebody will copy: never cut, never folded."""
        self.line(" " * indent, printable(text))

    def quote(self, place: str, text: str, faint: bool = False) -> None:
        """Write a line of a log behind its place, cut where the width ends."""
        line = f"    {printable(place)}: {printable(text)}"
        cut = line if self._width is None else clipped(line, self._width)
        self.line(self.marked(cut, "faint") if faint else cut)


def _has_width(stream: TextIO) -> bool:
    return stream.isatty() or "COLUMNS" in os.environ


def printable(text: str) -> str:
    """Replace tabs by spaces, and by `�` what would move the cursor or hide text."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def clipped(text: str, columns: int) -> str:
    """Cut a text to a number of columns, with an ellipsis where its middle is missing.

    A line of a log begins with who speaks and often ends with what matters.
    """
    if sum(map(_columns, text)) <= columns:
        return text
    tail = columns // 3
    return f"{_within(text, columns - tail - 1)}…{_within(text[::-1], tail)[::-1]}"


def _within(text: str, columns: int) -> str:
    used = 0
    for at, char in enumerate(text):
        used += _columns(char)
        if used > columns:
            return text[:at]
    return text


def _columns(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
