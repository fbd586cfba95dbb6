"""What no rule file can get wrong by itself: names that nobody defines, circles of explanations."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from app.errors import RuleError
from app.rulebook.cause import Cause, DomainForm, Edge, Explains
from app.rulebook.pattern import parse
from app.rulebook.reading import Placed, Reading
from app.rulebook.relation import circle
from app.rulebook.rulebook import OUTCOMES, joined
from app.rulebook.signal import Signal
from app.rulebook.wording import meant

_Placed: TypeAlias = Placed[Signal] | Placed[Cause] | Placed[DomainForm]

_SLOT = re.compile(r"\{(\w+)\}")
_OF_EXCEPTIONS = ("exception", "message", "frame")  # facts that every exception has


def faults_between(reading: Reading) -> Iterator[RuleError]:
    """Find the faults between the rules of a folder."""
    yield from _unknown_names(reading)
    yield from _unknown_facts(reading)
    yield from _circles(reading)


def _unknown_names(reading: Reading) -> Iterator[RuleError]:
    causes = sorted({*reading.causes, *(name for name in reading.claimed if name[:1].isupper())})
    known = sorted({*causes, *reading.signals, *reading.claimed})
    if reading.illegible:
        known += sorted(_signals_spoken_of(reading))
    for domain in reading.domains.values():
        yield from _unknown_targets(domain, domain.rule.explains, known)
    for cause in reading.causes.values():
        yield from _unknown_targets(cause, cause.rule.explains, known)
        for index, example in enumerate(cause.rule.examples):
            at = ("examples", index, "primary")
            yield from _unknown(cause, at, example.primary, [*causes, *OUTCOMES])
    for spoken in reading.spoken:
        if spoken.cause not in (*causes, "Unknown"):
            text = f"{spoken.cause} is defined by no file{meant(spoken.cause, causes)}"
            yield spoken.document.fault(spoken.at, text)
    for signal in reading.signals.values():
        yield from _unknown(signal, ("cause",), signal.rule.cause, [*causes, "Unknown"])
        yield from _unknown_targets(signal, signal.rule.explains, known)
        window = signal.rule.window_before
        for index, target in enumerate(window.of if window else ()):
            yield from _unknown(signal, ("window_before", "of", index), target, known)
        for index, target in enumerate(signal.rule.refines):
            yield from _unknown(signal, ("refines", index), target, known)


def _signals_spoken_of(reading: Reading) -> set[str]:
    placed: list[_Placed] = [*reading.domains.values(), *reading.causes.values()]
    placed += reading.signals.values()
    told = {edge.of for one in placed for _, _, edge in one.rule.explains.edges()}
    told |= {name for one in reading.signals.values() for name in one.rule.refines}
    return {name for name in told if name[:1].islower()}


def _unknown_targets(
    placed: _Placed, explains: Explains, known: Sequence[str]
) -> Iterator[RuleError]:
    for kind, index, edge in explains.edges():
        yield from _unknown(placed, ("explains", kind, index), edge.of, known)


def _unknown(
    placed: _Placed, at: Sequence[int | str], name: str, known: Sequence[str]
) -> Iterator[RuleError]:
    if name not in known:
        yield placed.fault(at, f"{name} is defined by no file{meant(name, known)}")


def _unknown_facts(reading: Reading) -> Iterator[RuleError]:
    """Facts that `says` asks for and no pattern of the signal can give."""
    for placed in reading.signals.values():
        given = _facts(placed.rule)
        for name in _SLOT.findall(placed.rule.says):
            if name not in given:
                text = f"{{{name}}} is a named group of no pattern here{meant(name, given)}"
                yield placed.fault(("says",), text)


def _facts(signal: Signal) -> list[str]:
    sources = (*signal.match, *signal.narrowing)
    given = {name for source in sources for name in parse(source).groups}
    return sorted(given.union(_OF_EXCEPTIONS if signal.exception else ()))


def _circles(reading: Reading) -> Iterator[RuleError]:
    edges = {name: placed.rule.explains for name, placed in reading.signals.items()}
    for name, placed in reading.causes.items():
        domain = reading.domains.get(placed.rule.domain)
        edges[name] = joined(placed.rule.explains, domain.rule if domain else None, name)
    signals = [placed.rule for placed in reading.signals.values()]
    loud = {signal.name: signal.cause for signal in signals if signal.strength != "echo"}
    ring = circle(edges, reading.causes, loud)
    if ring:
        where, at = _edge(reading, ring[0], ring[1], loud)
        yield where.fault(at, f"`always` edges form a circle: {' → '.join(ring)}")
    finer = {signal.name: Explains(always=_edges_to(signal.refines)) for signal in signals}
    ring = circle(finer, (), {signal.name: signal.cause for signal in signals})
    if ring:
        text = f"`refines` forms a circle: {' → '.join(ring)}"
        yield reading.signals[ring[0]].fault(("refines",), text)


def _edges_to(names: Sequence[str]) -> tuple[Edge, ...]:
    return tuple(Edge(of=name) for name in names)


def _edge(
    reading: Reading, culprit: str, target: str, cause_of: Mapping[str, str]
) -> tuple[_Placed, tuple[str | int, ...]]:
    """Find where it is written that one finding explains another."""
    cause = reading.causes.get(cause_of.get(culprit, culprit))
    domain = reading.domains.get(cause.rule.domain) if cause else None
    several = (reading.signals.get(culprit), cause, domain)
    written: list[_Placed] = [placed for placed in several if placed]
    for one in written:
        for kind, index, edge in one.rule.explains.edges():
            if kind == "always" and edge.of in (target, cause_of.get(target)):
                return one, ("explains", kind, index)
    return written[0], ("explains",)
