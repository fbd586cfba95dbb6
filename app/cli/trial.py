"""Try one rule on one log: what it meets there, and what becomes of it.

A pattern that meets a line is not yet evidence: `unless`, benign lines and the words round the
match have their say, and of all signals that meet one exception the most specific wins. An author
wants to see each of these. Without a rule, the verdict alone is told with its reasons.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.cli.reasons import judged
from app.detect.detect import Sighted, look
from app.detect.signals import facts_on, tried
from app.detect.traceback import find_raised
from app.errors import UsageError
from app.model import Line
from app.pipeline import Limits, compressed
from app.rulebook.compiled import Compiled
from app.rulebook.lines import BenignForm, MarkForm

_Told = tuple[Line, str]


@dataclass(frozen=True, slots=True)
class _Pattern:
    rule: str
    source: str
    unless: tuple[str, ...] = ()


def attempt(rule: str | None, log: Path, compiled: Compiled) -> Iterator[str]:
    """Tell what a cause, signal, mark, benign line or filter meets; then how the log is judged."""
    names = _signals(rule, compiled) if rule else frozenset[str]()
    patterns = _patterns(rule, compiled) if rule else []
    if rule and not (names or patterns or rule in compiled.rulebook.causes):
        raise UsageError(f"{rule}: no cause, signal, mark, filter or benign line has this name")
    sighted = look(compressed([log], _without_filter(rule, compiled), Limits()), compiled)
    told = [*_sighted(names, sighted, compiled), *_met(patterns, sighted.log.lines, compiled)]
    files = sighted.log.files
    for line, what in sorted(told, key=lambda pair: (pair[0].file, pair[0].number)):
        name = f"{files[line.file].name}:" if len(files) > 1 else ""
        yield f"{name}{line.number}: {what}"
        yield f"    {line.raw}"
    if rule and not told:
        yield f"{rule} meets no line of {log}"
    if rule:
        yield ""
    yield from judged(sighted, compiled)


def _sighted(names: frozenset[str], sighted: Sighted, compiled: Compiled) -> Iterator[_Told]:
    """Give the lines where signals count, and those that their patterns meet in vain."""
    counted = [s for s in sighted.sightings if s.signal in names]
    for sighting in counted:
        weak = f", {sighting.doubt}" if sighting.doubt else ""
        facts = _facts(sighting.facts)
        yield sighting.line, f"{sighting.signal} ({sighting.strength}{weak}){facts}"
    taken = {(s.signal, s.line.file, s.line.number) for s in counted}
    meanings = _meanings(sighted)
    for one in tried(sighted.log.lines, compiled):
        place = one.sighting.line.file, one.sighting.line.number
        if one.sighting.signal in names and (one.sighting.signal, *place) not in taken:
            taken.add((one.sighting.signal, *place))
            fate = f"vetoed by {one.veto}" if one.veto else one.sighting.doubt
            fate = fate or f"the exception is told by {meanings.get(place, 'no signal')}"
            yield one.sighting.line, f"{one.sighting.signal}{_facts(one.sighting.facts)} ({fate})"


def _meanings(sighted: Sighted) -> Mapping[tuple[int, int], str]:
    """Name for each line of a traceback the signal that its exception was taken for."""
    at = {(s.line.file, s.line.number): s.signal for s in sighted.sightings}
    return {
        (raised.line.file, number): at[raised.line.file, raised.line.number]
        for raised in find_raised(sighted.log.lines)
        for number in raised.lines
        if (raised.line.file, raised.line.number) in at
    }


def _met(
    patterns: Sequence[_Pattern], lines: Sequence[Line], compiled: Compiled
) -> Iterator[_Told]:
    """Give the lines that a mark, a benign line or a filter meets."""
    for line in lines:
        for pattern in patterns:
            facts = facts_on(line, pattern.source, compiled)
            if facts is not None:
                vetoed = any(compiled.holds(veto, line.raw) for veto in pattern.unless)
                fate = " (vetoed by `unless`)" if vetoed else ""
                yield line, f"{pattern.rule}{_facts(facts)}{fate}"


def _facts(facts: Mapping[str, str]) -> str:
    return "".join(f" {name}={value}" for name, value in facts.items())


def _without_filter(rule: str | None, compiled: Compiled) -> Compiled:
    """Leave a filter that is to be tried out of the reading: its lines would be gone."""
    book = compiled.rulebook
    others = tuple(kept for kept in book.filters if kept.name != rule or kept.do == "keep")
    if len(others) == len(book.filters):
        return compiled
    return Compiled(book.model_copy(update={"filters": others}))


def _signals(rule: str, compiled: Compiled) -> frozenset[str]:
    return frozenset(s.name for s in compiled.rulebook.signals if rule in (s.name, s.cause))


def _patterns(rule: str, compiled: Compiled) -> list[_Pattern]:
    book = compiled.rulebook
    others: tuple[MarkForm | BenignForm, ...] = (*book.marks, *book.benign)
    found = [
        _Pattern(rule, source, told.unless)
        for told in others
        if told.name == rule
        for source in told.match
    ]
    found += [_Pattern(rule, s) for kept in book.filters if kept.name == rule for s in kept.match]
    return found
