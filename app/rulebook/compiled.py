"""The rulebook's regexes in the engines that run them.

Three engines, one meaning (see `pattern.py`). Hyperscan meets every line of a log at once and
gives candidates. Arrow's RE2 takes the union of all filters over an array of lines. RE2 proves a
candidate on the cleaned line, with its facts. Hyperscan's database takes long to compile and is
kept in the cache folder, by the rulebook's hash and the versions that made it.
"""

import platform
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import hyperscan
import re2

from app.rulebook.load import made_by, write_whole
from app.rulebook.pattern import Pattern, parse
from app.rulebook.rulebook import Rulebook
from app.rulebook.signal import Signal
from app.rulebook.trouble import trouble
from app.written import Routine

ProbeKind = Literal["signal", "mark", "keep", "trace"]

# What a traceback is made of; these lines are kept so that it can be joined later.
TRACE: tuple[str, ...] = (
    r"Traceback \(most recent call",
    r'File "[^"]+", line \d',
    r"[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Expired|Iteration|Failure)\b",
    r"The above exception was the direct cause|During handling of the above exception",
    r"Exception ignored in|Error in atexit|Exception in thread|Exception in worker",
    r"terminate called|  what\(\):",
)
_FLAGS = hyperscan.HS_FLAG_MULTILINE


@dataclass(frozen=True, slots=True)
class Probe:
    """One pattern that the scan looks for, and the rule that owns it."""

    kind: ProbeKind
    owner: int
    source: str


@dataclass(frozen=True, slots=True)
class Met:
    """A line cut at what the pattern `source` met in it, with the facts captured there."""

    facts: Mapping[str, str]
    before: str
    matched: str
    behind: str
    source: str


class Compiled:
    """A rulebook ready to run. Safe for several threads, but for one scratch a thread."""

    def __init__(self, rulebook: Rulebook, cache: Path | None = None) -> None:
        self.rulebook = rulebook
        self.written: tuple[Routine, ...] = ()
        self._cache = cache
        self._exact: dict[str, re2._Regexp] = {}

    def with_written(self, written: Sequence[Routine]) -> "Compiled":
        """Add filters that were written for one type of job; the database is shared."""
        _ = self.database  # made before it is shared
        other = copy(self)
        other.written = tuple(written)
        return other

    @cached_property
    def probes(self) -> tuple[Probe, ...]:
        """All patterns of the scan; a pattern's id is its place here."""
        book = self.rulebook
        probes = [Probe("trace", index, source) for index, source in enumerate(TRACE)]
        for index, signal in enumerate(book.signals):
            probes += [Probe("signal", index, source) for source in signal.match]
            probes += [Probe("keep", index, signal.after)] if signal.after else []
        for index, mark in enumerate(book.marks):
            probes += [Probe("mark", index, source) for source in mark.match]
        for index, kept in enumerate(book.filters):
            if kept.do == "keep" and kept.status == "stable":
                probes += [Probe("keep", index, source) for source in kept.match]
        return tuple(probes)

    @cached_property
    def exception_signals(self) -> tuple[Signal, ...]:
        """The signals that look at exceptions and not at lines."""
        return tuple(signal for signal in self.rulebook.signals if signal.exception)

    @cached_property
    def database(self) -> hyperscan.Database:
        """The Hyperscan database over all probes; a match's id is the probe's."""
        kept = self._cache and self._cache / self._database_name
        if kept:
            try:
                return hyperscan.loadb(kept.read_bytes(), mode=hyperscan.HS_MODE_BLOCK)
            except (hyperscan.error, OSError):
                pass
        database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        expressions = [self._scan_form(probe.source).encode("latin-1") for probe in self.probes]
        database.compile(
            expressions=expressions,
            ids=list(range(len(expressions))),
            elements=len(expressions),
            flags=[_FLAGS] * len(expressions),
        )
        if kept:
            write_whole(kept, hyperscan.dumpb(database))
        return database

    @property
    def _database_name(self) -> str:
        engine = f"{version('hyperscan')}-{platform.machine()}"
        return f"hyperscan-{engine}-{made_by()}-{self.rulebook.fingerprint[7:23]}.db"

    def _scan_form(self, source: str) -> str:
        known = self.rulebook.patterns.get(source)
        return known.scan if known else parse(source).scan

    @cached_property
    def dropped(self) -> str | None:
        """The union of all filters that drop lines, for lines that keep their line end."""
        return _union(
            self.rulebook.patterns[source]
            for rule in self.rulebook.filters
            if rule.do == "drop" and rule.status == "stable"
            for source in rule.match
        )

    @property
    def dropped_if_calm(self) -> str | None:
        """The union of the written filters, which spare a line that holds a word of trouble."""
        return _union(parse(routine.match) for routine in self.written)

    def may_be_benign(self, text: str) -> bool:
        """Say whether any benign pattern meets a line, `unless` left aside."""
        if not self.rulebook.benign:
            return False
        return self._any_benign.search(text.encode("utf-8", "replace")) is not None

    @cached_property
    def _any_benign(self) -> "re2._Regexp":
        sources = [source for rule in self.rulebook.benign for source in rule.match]
        union = "|".join(f"(?:{self.rulebook.patterns[source].line})" for source in sources)
        return re2.compile(union.encode("latin-1"), _latin1())

    @cached_property
    def dropped_line(self) -> "re2._Regexp":
        """The same union, compiled to be asked for single lines."""
        return line_regexp(self.dropped or "")

    def holds(self, source: str, text: str) -> bool:
        """Prove a pattern on one cleaned line, without its facts."""
        return self._regexp(source).search(text.encode("utf-8", "replace")) is not None

    def match(self, source: str, text: str) -> Mapping[str, str] | None:
        """Prove a pattern on one cleaned line; give its facts, or None where it does not hold."""
        met = self.meet(source, text)
        return None if met is None else met.facts

    def meet(self, source: str, text: str) -> Met | None:
        """Prove a pattern on one cleaned line; give its facts and what stands round the match."""
        data = text.encode("utf-8", "replace")
        found = self._regexp(source).search(data)
        if found is None:
            return None
        start, end = found.span()
        return Met(
            facts={
                name.decode(): value.decode("utf-8", "replace")
                for name, value in found.groupdict().items()
                if value is not None
            },
            before=data[:start].decode("utf-8", "replace"),
            matched=data[start:end].decode("utf-8", "replace"),
            behind=data[end:].decode("utf-8", "replace"),
            source=source,
        )

    def _regexp(self, source: str) -> "re2._Regexp":
        regexp = self._exact.get(source)
        if regexp is None:
            known = self.rulebook.patterns.get(source) or parse(source)
            regexp = re2.compile(known.exact.encode("latin-1"), _latin1())
            self._exact[source] = regexp
        return regexp


def line_regexp(form: str) -> "re2._Regexp":
    """Compile a form for lines, to be asked for single lines."""
    return re2.compile(form.encode("latin-1"), _latin1())


def is_trouble(line: bytes) -> bool:
    """Say whether a line holds a word for which no written filter may take it away."""
    return _trouble().search(line) is not None


@cache
def _trouble() -> "re2._Regexp":
    return line_regexp(trouble().line)


def _union(patterns: Iterable[Pattern]) -> str | None:
    every = tuple(patterns)
    anchored = [pattern.line.removeprefix("^") for pattern in every if pattern.anchored]
    loose = [pattern.line for pattern in every if not pattern.anchored]
    parts = [f"^(?:{'|'.join(anchored)})"] if anchored else []
    return "|".join([*parts, *loose]) or None


def _latin1() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = 64 << 20
    return options
