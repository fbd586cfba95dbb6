"""Prove what the scan found: which signals and marks does each kept line really meet.

The scan's candidates are tried again on the cleaned line, where `unless`, `after`, the benign lines
and the words round the match have their say.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.detect.doubt import weigh
from app.model import Line, Marked, Sighting
from app.rulebook.compiled import Compiled, Met
from app.rulebook.signal import Signal

_LONGEST_WINDOW = 500


@dataclass(frozen=True, slots=True)
class Tried:
    """A signal whose pattern holds on a line; `veto` says why it is not sighted all the same."""

    sighting: Sighting
    veto: str = ""


def sight(lines: Sequence[Line], compiled: Compiled) -> tuple[Sighting, ...]:
    """Give every signal that a line meets, in reading order; lines must be in that order.

    Those that the words round them leave nothing of are among them, for a traceback is to be
    believed whatever its words; `standing` takes them out.
    """
    return _once_a_line(found.sighting for found in tried(lines, compiled) if not found.veto)


def tried(lines: Sequence[Line], compiled: Compiled) -> Iterator[Tried]:
    """Give every signal whose pattern holds on a line, with what vetoes it."""
    book = compiled.rulebook
    earlier = _Earlier(compiled)
    for line in lines:
        for index, source in _candidates(line, compiled, "signal"):
            signal = book.signals[index]
            met = meet_on(line, source, compiled)
            if met is not None:
                veto = _veto(signal, line, earlier, compiled)
                yield Tried(_sighting(signal, line, met), veto)
        earlier.add(line)


def _veto(signal: Signal, line: Line, earlier: "_Earlier", compiled: Compiled) -> str:
    if _meets_any(signal.unless, line, compiled):
        return "`unless`"
    if signal.after and not earlier.holds(signal, line):
        return "`after` was not met before"
    return "a benign line" if is_benign(line, compiled) else ""


def _sighting(signal: Signal, line: Line, met: Met) -> Sighting:
    strength, objection = weigh(signal, met, line.raw, line.rank)
    return Sighting(
        signal=signal.name,
        line=line,
        strength=strength or "context",
        facts=met.facts,
        doubt=str(objection) if objection else "",
        stands=strength is not None,
    )


def marks(lines: Iterable[Line], compiled: Compiled) -> tuple[Marked, ...]:
    """Give every mark that a line meets, once a line, in reading order."""
    found: list[Marked] = []
    for line in lines:
        met: set[int] = set()
        for index, source in _candidates(line, compiled, "mark"):
            mark = compiled.rulebook.marks[index]
            facts = None if index in met else facts_on(line, source, compiled)
            if facts is None or _meets_any(mark.unless, line, compiled):
                continue
            met.add(index)
            found.append(Marked(mark.name, mark.kind, line, mark.grade, facts))
    return tuple(found)


def standing(sightings: Iterable[Sighting]) -> tuple[Sighting, ...]:
    """Leave out what the words round it speak against."""
    return tuple(sighting for sighting in sightings if sighting.stands)


def facts_on(line: Line, source: str, compiled: Compiled) -> Mapping[str, str] | None:
    """Match a pattern on a line, after its prefix or with it; give the facts."""
    met = meet_on(line, source, compiled)
    return None if met is None else met.facts


def meet_on(line: Line, source: str, compiled: Compiled) -> Met | None:
    """Match a pattern on a line, after its prefix or with it."""
    met = compiled.meet(source, line.text)
    if met is None and line.text != line.raw:
        met = compiled.meet(source, line.raw)
    return met


def is_benign(line: Line, compiled: Compiled) -> bool:
    """Say whether the rulebook knows the line as harmless."""
    if not any(compiled.may_be_benign(form) for form in _forms(line)):
        return False
    return any(
        _meets_any(rule.match, line, compiled) and not _meets_any(rule.unless, line, compiled)
        for rule in compiled.rulebook.benign
    )


def _candidates(line: Line, compiled: Compiled, kind: str) -> Iterator[tuple[int, str]]:
    for probe_id in line.met:
        probe = compiled.probes[probe_id]
        if probe.kind == kind:
            yield probe.owner, probe.source


def _forms(line: Line) -> tuple[str, ...]:
    """What a pattern may be about: the line as printed, and what follows its prefix."""
    return (line.raw,) if line.raw == line.text else (line.raw, line.text)


def _meets_any(sources: Iterable[str], line: Line, compiled: Compiled) -> bool:
    return any(compiled.holds(source, form) for source in sources for form in _forms(line))


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
            if _meets_any([signal.after], before, self._compiled):
                return True
        return False
