r"""Find the exceptions that a log tells of.

Tracebacks of many processes lie across each other, nest in messages, are boxed, logged, cut, or
folded into one line. Lines are dealt out to their printers, each printer joins its own, and what
belongs together is resolved to the exception that started it. The time is linear in the lines; the
memory is bounded by them, since no more than 4 KB of a message and 64 frames of a traceback are
kept. No input makes it raise.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.detect.block import Block, Chain
from app.detect.chain import resolve
from app.detect.exception import Raised, read_name
from app.detect.printer import Printer, is_labelled
from app.detect.shape import HEADER, read_frame, stirs
from app.model import Line

__all__ = ["Raised", "find_raised"]

_Key = tuple[int, str, int | None, str | None]

_MOST_PIECES = 1000
# {"level": "error", "exc": "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n…"}
_FOLDED = re.compile(re.escape(HEADER) + r":(?P<newline>\\{1,4}n)")
# {"message": {"message": "KeyError: 'text'", "extraInfo": {"timestamp": "1760000000"}}}
_ERROR_FILE = re.compile(r'"message": ?"(?P<told>[A-Za-z_][\w.]{1,200}: (?:[^"\\]|\\.){1,2000})"')
# {"log":"KeyError: 'text'\n","stream":"stderr","time":"2026-05-01T10:00:00.1Z"}
_RECORD = re.compile(
    r'"(?:log|message|MESSAGE|msg|line|text|textPayload|output|content|data|raw|body|stderr|stdout)"'
    r': ?"((?:[^"\\]|\\.){0,8000})"'
)
_EXTRA = '"extraInfo"'
# 2026-05-01T10:00:00.1Z stderr F KeyError: 'text'
_STREAMS = ("stderr F ", "stdout F ", "stderr P ", "stdout P ")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_QUOTED = {
    '"': re.compile(r'(?:[^"\\]|\\.)*+', re.DOTALL),
    "'": re.compile(r"(?:[^'\\]|\\.)*+", re.DOTALL),
}


def find_raised(
    lines: Sequence[Line], harmless: Callable[[Line], bool] = lambda line: False
) -> tuple[Raised, ...]:
    """Find the exceptions in the kept lines of a log, in the order of their first lines.

    `harmless` lines of others may lie in a traceback, and are no part of it; it is asked only
    where one is under way.
    """
    reading = _Reading(harmless)
    for line in lines:
        reading.take(line)
    return reading.give()


class _Reading:
    """Deals lines out to their printers."""

    def __init__(self, harmless: Callable[[Line], bool]) -> None:
        self._harmless = harmless
        self._chains: list[Chain] = []
        self._printers: dict[_Key, Printer] = {}
        self._before: Line | None = None
        self._lender: Printer | None = None
        self._lent = False

    def take(self, line: Line) -> None:
        """Give a line to whoever printed it."""
        text, before = _spoken(line.text), self._before
        if self._is_thrown_in(line, text):
            return
        self._before = line
        if before is not None and (before.file != line.file or line.number - before.number > 2):
            before = None
        printer = self._printer(line, before)
        if "\\n" in line.text and self._unfold(line):
            printer.skip(line)
        elif printer.idle and not stirs(text) and not _names_exception(text):
            if '"message"' in text:
                self._read_error_file(line)
            printer.skip(line)
        else:
            printer.feed(line, text, before)
            if is_labelled(line) and HEADER in text:
                self._lender, self._lent = printer, False

    def _is_thrown_in(self, line: Line, text: str) -> bool:
        """Say whether somebody else's harmless line lies in what a printer is telling."""
        printer = self._printers.get((line.file, line.stream, line.rank, line.host))
        if printer is None or printer.idle or text[:1].isspace() or stirs(text):
            return False
        return not _names_exception(text) and self._harmless(line)

    def _printer(self, line: Line, before: Line | None) -> Printer:
        labelled = is_labelled(line)
        lender = self._lender
        if lender is not None:
            if not labelled and before is not None and not lender.idle and self._lends(line):
                return lender
            self._lender = None
        key = (line.file, line.stream, line.rank, line.host)
        printer = self._printers.get(key)
        if printer is None:
            printer = self._printers[key] = Printer(labelled, self._chains)
        return printer

    def _lends(self, line: Line) -> bool:
        """Say whether a line without a label goes on with a record whose first line had one."""
        if not self._lent and line.text.strip():
            self._lent = read_frame(line.text, cells=False) is not None
            return self._lent
        return True

    def _unfold(self, line: Line) -> bool:
        """Read a traceback whose line ends are written out, as in structured logs."""
        match = _FOLDED.search(line.text)
        if match is None:
            return False
        body = line.text[match.start() :]
        for _ in range(len(match["newline"]).bit_length() - 2):
            body = _ESCAPED.sub(r"\1", body.replace("\\\\n", "\\\\\\n"))
        known = len(self._chains)
        printer = Printer(False, self._chains)
        for piece in _unquote(body, line.text[: match.start()]).split("\n", _MOST_PIECES):
            printer.feed(line, piece)
        for chain in self._chains[known:]:
            chain.mark = "reported" if "py_callstack" in line.text else "logged"
        return True

    def _read_error_file(self, line: Line) -> None:
        match = _ERROR_FILE.search(line.text)
        named = read_name(_ESCAPED.sub(_unescape, match["told"])) if match else None
        if named is not None and named.sure:
            chain = Chain(mark="reported")
            block = Block(line, chain)
            block.feed(line, 0)
            block.name(named, line)
            chain.members.append(("", block))
            self._chains.append(chain)

    def give(self) -> tuple[Raised, ...]:
        """Resolve what was joined."""
        found = [(chain, raised) for chain in self._chains for raised in resolve(chain)]
        fatal = {_printed_by(raised) for _, raised in found if raised.kind == "uncaught"}
        # A thread that dies does not end its process; but where nothing else did, it is the one.
        return tuple(
            replace(raised, kind="uncaught", ended_a_thread=True)
            if chain.mark == "thread"
            and raised.kind == "logged"
            and _printed_by(raised) not in fatal
            else raised
            for chain, raised in found
        )


def _spoken(text: str) -> str:
    """Take a printed line out of the record that a container runtime wrapped it in."""
    if text.startswith("{") and _EXTRA not in text and (said := _longest_said(text)) is not None:
        said = _ESCAPED.sub(_unescape, said).rstrip("\n")
        return text if "\n" in said else said
    return text[len("stderr F ") :] if text.startswith(_STREAMS) else text


def _longest_said(text: str) -> str | None:
    # {"level":"info","msg":"stderr","line":"KeyError: 'text'"}
    return max((match[1] for match in _RECORD.finditer(text)), key=len, default=None)


def _names_exception(text: str) -> bool:
    named = read_name(text.rstrip())
    return named is not None and named.sure


def _printed_by(raised: Raised) -> tuple[int, str, int | None]:
    return raised.line.file, raised.line.stream, raised.line.rank


def _unquote(body: str, head: str) -> str:
    """Cut a text at the quotation mark that opened it before, and undo its escapes."""
    quote = max('"', "'", key=head.rfind)
    if quote in head and (match := _QUOTED[quote].match(body)):
        body = match[0]
    return _ESCAPED.sub(_unescape, body)


def _unescape(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(match[1], match[1])
