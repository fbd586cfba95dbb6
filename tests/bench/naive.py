"""What the engine must agree with: Python's `re`, a line at a time, a rule at a time."""

import re
from collections.abc import Iterator

from app.read.prefix import PrefixReader
from app.read.terminal import clean
from app.rulebook.compiled import TRACE, Compiled


class Naive:
    """All filters and signals as Python regexes, in the order of the rulebook."""

    def __init__(self, compiled: Compiled) -> None:
        book = compiled.rulebook
        self.filters = [
            re.compile(source.encode())
            for rule in book.filters
            if rule.do == "drop"
            for source in rule.match
        ]
        self.probes = [
            (number, re.compile(probe.source.encode()))
            for number, probe in enumerate(compiled.probes)
            if number >= len(TRACE)
        ]

    def is_dropped(self, line: bytes) -> bool:
        """Say whether a filter meets the line as it is printed, without its end."""
        return any(regex.search(line) for regex in self.filters)

    def hits(self, line: bytes) -> Iterator[int]:
        """Give every probe that meets the line."""
        for number, regex in self.probes:
            if regex.search(line):
                yield number


class Exact:
    """Probes on the cleaned line, after its prefix or with it, as the product proves them."""

    def __init__(self, naive: Naive) -> None:
        self._naive = naive
        self._reader = PrefixReader(2026)

    def hits(self, raw: bytes) -> set[int]:
        """Give the probes that the line meets."""
        found: set[int] = set()
        for piece in clean(raw.decode("utf-8", "replace")):
            text = piece[self._reader.read(piece).end :]
            forms = {text.encode("utf-8", "replace"), piece.encode("utf-8", "replace")}
            for form in forms:
                found.update(self._naive.hits(form))
        return found
