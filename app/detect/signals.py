"""Prove what the scan found: which signals and marks does each kept line really meet.

The scan's candidates are tried again on the cleaned line, where `unless`, `after` and the benign
lines have their say.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from app.model import Line, Marked, Sighting
from app.rulebook.compiled import Compiled
from app.rulebook.signal import Signal

_LONGEST_WINDOW = 500


def sight(lines: Sequence[Line], compiled: Compiled) -> tuple[Sighting, ...]:
    """Give every signal that a line meets, in reading order; lines must be in that order."""
    book = compiled.rulebook
    earlier = _Earlier(compiled)
    found: list[Sighting] = []
    for line in lines:
        for index, source in _candidates(line, compiled, "signal"):
            signal = book.signals[index]
            facts = facts_on(line, source, compiled)
            if facts is None or _vetoed(signal, line, compiled):
                continue
            if signal.after and not earlier.holds(signal, line):
                continue
            if is_benign(line, compiled):
                continue
            found.append(Sighting(signal.name, line, signal.strength, facts))
        earlier.add(line)
    return _once_a_line(found)


def marks(lines: Iterable[Line], compiled: Compiled) -> tuple[Marked, ...]:
    """Give every mark that a line meets, in reading order."""
    found: list[Marked] = []
    for line in lines:
        for index, source in _candidates(line, compiled, "mark"):
            mark = compiled.rulebook.marks[index]
            facts = facts_on(line, source, compiled)
            if facts is None or (mark.unless and compiled.holds(mark.unless, line.raw)):
                continue
            found.append(Marked(mark.name, mark.kind, line, mark.grade, facts))
    return tuple(found)


def facts_on(line: Line, source: str, compiled: Compiled) -> Mapping[str, str] | None:
    """Match a pattern on a line, after its prefix or with it."""
    facts = compiled.match(source, line.text)
    if facts is None and line.text != line.raw:
        facts = compiled.match(source, line.raw)
    return facts


def is_benign(line: Line, compiled: Compiled) -> bool:
    """Say whether the rulebook knows the line as harmless."""
    if not compiled.may_be_benign(line.raw):
        return False
    return any(
        any(compiled.holds(source, line.raw) for source in rule.match)
        and not (rule.unless and compiled.holds(rule.unless, line.raw))
        for rule in compiled.rulebook.benign
    )


def _candidates(line: Line, compiled: Compiled, kind: str) -> Iterator[tuple[int, str]]:
    for probe_id in line.met:
        probe = compiled.probes[probe_id]
        if probe.kind == kind:
            yield probe.owner, probe.source


def _vetoed(signal: Signal, line: Line, compiled: Compiled) -> bool:
    return signal.unless is not None and compiled.holds(signal.unless, line.raw)


def _once_a_line(found: Iterable[Sighting]) -> tuple[Sighting, ...]:
    """A signal with several patterns counts once a line."""
    unique: dict[tuple[str, int, int, str], Sighting] = {}
    for sighting in found:
        line = sighting.line
        unique.setdefault((sighting.signal, line.file, line.number, line.raw), sighting)
    return tuple(unique.values())


class _Earlier:
    """The last lines of each printer, for signals that need something before them."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._of: dict[tuple[int, str], deque[Line]] = {}
        self._needed = any(signal.after for signal in compiled.rulebook.signals)

    def add(self, line: Line) -> None:
        if self._needed:
            recent = self._of.setdefault((line.file, line.stream), deque(maxlen=_LONGEST_WINDOW))
            recent.append(line)

    def holds(self, signal: Signal, line: Line) -> bool:
        assert signal.after is not None
        for before in reversed(self._of.get((line.file, line.stream), ())):
            if line.number - before.number > signal.within:
                return False
            if self._compiled.holds(signal.after, before.raw):
                return True
        return False
