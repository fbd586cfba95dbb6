"""Try one rule on one log: what it meets there, and what becomes of it.

A pattern that meets a line is not yet evidence: `unless` and benign lines have their say, and of
all signals that meet one exception the most specific wins. An author wants to see each of these.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.detect.detect import Sighted, detect, look
from app.detect.signals import facts_on, is_benign
from app.errors import UsageError
from app.judge.primary import rank
from app.model import Job, Line, Sighting
from app.pipeline import Limits, compressed
from app.rulebook.compiled import Compiled
from app.rulebook.lines import BenignForm, MarkForm


@dataclass(frozen=True, slots=True)
class _Pattern:
    rule: str
    source: str
    unless: str | None
    is_signal: bool


def attempt(rule: str, log: Path, compiled: Compiled) -> Iterator[str]:
    """Tell what a cause, signal, mark, benign line or filter meets; then how the log is judged."""
    patterns = _patterns(rule, compiled)
    sighted = look(compressed([log], _without_filter(rule, compiled), Limits()), compiled)
    names = {s.name for s in compiled.rulebook.signals if rule in (s.name, s.cause)}
    counted = [s for s in sighted.sightings if s.signal in names]
    told = sorted(
        [*_counted(counted), *_met(patterns, counted, sighted.log.lines, compiled)],
        key=lambda pair: (pair[0].file, pair[0].number),
    )
    files = sighted.log.files
    for line, what in told:
        name = f"{files[line.file].name}:" if len(files) > 1 else ""
        yield f"{name}{line.number}: {what}"
        yield f"    {line.raw}"
    if not told:
        yield f"{rule} meets no line of {log}"
    yield ""
    yield from _judged(sighted, compiled)


def _counted(sightings: Sequence[Sighting]) -> Iterator[tuple[Line, str]]:
    for sighting in sightings:
        facts = "".join(f" {name}={value}" for name, value in sighting.facts.items())
        yield sighting.line, f"{sighting.signal} ({sighting.strength}){facts}"


def _met(
    patterns: Sequence[_Pattern],
    counted: Sequence[Sighting],
    lines: Sequence[Line],
    compiled: Compiled,
) -> Iterator[tuple[Line, str]]:
    """Give the lines that a pattern meets and that count for nothing, with the reason."""
    taken = {(s.signal, s.line.file, s.line.number) for s in counted}
    for line in lines:
        for pattern in patterns:
            facts = facts_on(line, pattern.source, compiled)
            if facts is None or (pattern.rule, line.file, line.number) in taken:
                continue
            told = "".join(f" {name}={value}" for name, value in facts.items())
            yield line, f"{pattern.rule}{told}{_fate(pattern, line, compiled)}"


def _fate(pattern: _Pattern, line: Line, compiled: Compiled) -> str:
    if pattern.unless and compiled.holds(pattern.unless, line.raw):
        return " (vetoed by `unless`)"
    if not pattern.is_signal:
        return ""
    if is_benign(line, compiled):
        return " (vetoed: a benign line)"
    return " (does not count: `after` is not met, or another signal tells more of this exception)"


def _judged(sighted: Sighted, compiled: Compiled) -> Iterator[str]:
    """Tell for the last attempt which findings are there, and who explains whom."""
    found = detect(sighted, sighted.attempts[-1], compiled, Job())
    ranking = rank(found.findings, compiled.rulebook)
    for root in ranking.roots:
        yield (
            f"root: {root.cause} by {root.signal} ({root.strength}, {root.count} times, "
            f"line {root.first.number}): {root.summary}"
        )
    for item in ranking.explained:
        finding = item.finding
        yield (
            f"explained: {finding.cause} by {finding.signal} (line {finding.first.number}) "
            f"through {item.by.cause} by {item.by.signal} ({item.edge})"
        )


def _without_filter(rule: str, compiled: Compiled) -> Compiled:
    """Leave a filter that is to be tried out of the reading: its lines would be gone."""
    book = compiled.rulebook
    others = tuple(kept for kept in book.filters if kept.name != rule or kept.do == "keep")
    if len(others) == len(book.filters):
        return compiled
    return Compiled(book.model_copy(update={"filters": others}))


def _patterns(rule: str, compiled: Compiled) -> list[_Pattern]:
    book = compiled.rulebook
    signals = [signal for signal in book.signals if rule in (signal.name, signal.cause)]
    found = [_Pattern(s.name, source, s.unless, True) for s in signals for source in s.match]
    others: tuple[MarkForm | BenignForm, ...] = (*book.marks, *book.benign)
    found += [
        _Pattern(told.name, source, told.unless, False)
        for told in others
        if told.name == rule
        for source in told.match
    ]
    for routine in book.filters:
        if routine.name == rule:
            found += [_Pattern(rule, source, None, False) for source in routine.match]
    if not found and not signals and rule not in book.causes:
        raise UsageError(f"{rule}: no cause, signal, mark, filter or benign line has this name")
    return found
