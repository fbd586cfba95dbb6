"""What an exception means: of all signals that fit it, the most specific one.

The class of an exception says little (`RuntimeError` is raised for forty reasons), its text says
more, and where it was raised more still. So signals compete: a pattern on the text beats a class
narrowed by message or frames, that beats a class alone, and plain words and `*` come last. One that
only sends its reader to what was printed before reports somebody else's error, and one that counts
what was tried and failed sums up what each try met.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from app.detect.innermost import own_frames
from app.detect.logged import LOGGED
from app.detect.signals import is_benign, standing
from app.detect.traceback import Raised
from app.model import Sighting, Strength
from app.rulebook.compiled import Compiled
from app.rulebook.pattern import literal_weight
from app.rulebook.signal import Signal

_TOLD_ELSEWHERE = re.compile(
    r"(?i)\b(?:see|check|look(?:ing)?(?: at)?|refer to|inspect|read)\b.{0,60}"
    r"\b(?:above|earlier (?:errors?|output|messages?|logs?)|logs? of (?:the )?(?:\w+ )?workers?)\b"
    r"|\b(?:actual|real|original|underlying|root) (?:error|exception|cause)\b.{0,40}"
    r"\b(?:above|logs?)\b"
)
_SUMS_UP = re.compile(
    r"(?i)\bincomplete\b.*\b\d+ ?(?:/|of|out of) ?\d+\b"
    r"|\b\d+ ?(?:/|of|out of) ?\d+ (?:files?|shards?|parts?|objects?|downloads?|uploads?|jobs?"
    r"|workers?|tasks?|attempts?|requests?)\b(?: \w+){0,2} (?:failed|missing|succeeded|lost)"
    r"|\ball (?:\d+ |of the )?(?:attempts|retries|tries|downloads|uploads|requests|workers)"
    r" (?:have |has )?failed(?! (?:with|because|due)\b|: ?\S)"
    r"|\b(?:giving|gave) up after \d+ (?:attempts|retries|tries)\W*$"
    r"|\b(?:retries|attempts|tries)(?: were| was)? (?:exceeded|exhausted)\W*$"
    r"|\bfailed\b.*\bafter \d+ (?:attempts|retries|tries)\W*$"
)
_RANK: Mapping[Strength, int] = {"proof": 3, "clue": 2, "echo": 1, "context": 0}
_RAISER_AND_CALLER = 2
_BY_TEXT = 3
_BY_PLAIN_WORDS = 0
_MORE_THAN_ECHOES = 1_000  # of two readings that say little, a class goes before words that echo
_AT_MOST: Mapping[str, Strength] = {
    "logged": "clue",
    "bare": "clue",
    "told": "clue",
    "mentioned": "echo",
    "reported": "echo",
}
_OFTEN_CAUGHT = frozenset({"OutOfMemoryError"})  # whatever the form in which it is printed


def understand(
    raised: Sequence[Raised], on_lines: Sequence[Sighting], compiled: Compiled
) -> tuple[Sighting, ...]:
    """Replace what was sighted inside tracebacks by one sighting for each exception."""
    inside = {(r.line.file, number) for r in raised for number in r.lines}
    outside = [
        replace(s, survivable=_cause(s.signal, compiled) in _OFTEN_CAUGHT)
        for s in standing(on_lines)
        if (s.line.file, s.line.number) not in inside
    ]
    on_line: dict[tuple[int, int], list[Sighting]] = {}
    for sighting in on_lines:
        on_line.setdefault((sighting.line.file, sighting.line.number), []).append(sighting)
    meanings = [
        _meaning(r, on_line, compiled)
        for r in raised
        if r.kind != "ignored" and not is_benign(r.line, compiled)
    ]
    found = [*outside, *(meaning for meaning in meanings if meaning)]
    return tuple(sorted(found, key=lambda s: (s.line.file, s.line.number)))


def understand_mentioned(
    mentioned: Iterable[Raised], sightings: Sequence[Sighting], compiled: Compiled
) -> tuple[Sighting, ...]:
    """Add what exceptions without a traceback mean, but on lines that say it in better words."""
    said = {
        (s.line.file, s.line.number)
        for s in sightings
        if s.strength != "context" and not compiled.rulebook.signal_named[s.signal].general
    }
    meanings = (
        _meaning(r, {}, compiled) for r in mentioned if (r.line.file, r.line.number) not in said
    )
    found = [*sightings, *(meaning for meaning in meanings if meaning)]
    return tuple(sorted(found, key=lambda s: (s.line.file, s.line.number)))


def _cause(signal: str, compiled: Compiled) -> str:
    return compiled.rulebook.signal_named[signal].cause


_Fit = tuple[tuple[int, int, int], Signal, Mapping[str, str]]


def _meaning(
    raised: Raised, on_line: Mapping[tuple[int, int], list[Sighting]], compiled: Compiled
) -> Sighting | None:
    """Take an exception for what it means; where it says nothing, for what it was raised over.

    Where another one of its chain tells the same event in more detail, that one says it better.
    """
    told, best = raised, _best_fit(raised, on_line, compiled)
    if best is None or best[1].general:
        earlier = (o for o in raised.cause_of if o.line.number < raised.line.number)
        for other in earlier:
            fit = _best_fit(other, on_line, compiled)
            if fit is not None and not fit[1].general and fit[1].strength != "context":
                told, best = other, fit
                break
    if best is None or (raised.kind == "mentioned" and _knows_nothing(best[1])):
        return None
    for other in raised.cause_of:
        fit = _best_fit(other, on_line, compiled)
        if fit is not None and {best[1].name, best[1].cause} & set(fit[1].refines):
            told, best = other, fit
            break
    (level, *_), signal, facts = best
    # Without its traceback a class may have been quoted; a text that names its cause still does.
    sure = raised.kind == "bare" and level == _BY_TEXT and not _is_tried_again(told, on_line)
    kind = "uncaught" if sure else raised.kind
    if level < _BY_TEXT and _TOLD_ELSEWHERE.search(told.message):
        kind = "reported"
    elif level < _BY_TEXT and kind == "uncaught" and _SUMS_UP.search(told.message):
        kind = "told"
    strength = _weakened(signal.strength, kind)
    return Sighting(
        signal=signal.name,
        line=told.line,
        strength=strength,
        facts={**_facts(told), **facts},
        doubt=LOGGED if kind == "logged" and strength != signal.strength else "",
        survivable=not raised.from_the_top,
    )


def _knows_nothing(signal: Signal) -> bool:
    """Say whether a signal takes any exception for what it is."""
    return "*" in signal.exception and not signal.narrowing


def _is_tried_again(raised: Raised, on_line: Mapping[tuple[int, int], list[Sighting]]) -> bool:
    own = on_line.get((raised.line.file, raised.line.number), ())
    return any(sighting.doubt.startswith("retry") for sighting in own)


def _best_fit(
    raised: Raised, on_line: Mapping[tuple[int, int], list[Sighting]], compiled: Compiled
) -> _Fit | None:
    texts = [f"{raised.qualified}: {raised.message}".split("\n", 1)[0]]
    texts += raised.message.split("\n")[1:40]
    fitting = [
        *_by_text(raised, texts, on_line, compiled),
        *_by_class(raised, texts, compiled),
    ]
    return max(fitting, key=lambda fit: fit[0], default=None)


def _by_text(
    raised: Raised,
    texts: Sequence[str],
    on_line: Mapping[tuple[int, int], list[Sighting]],
    compiled: Compiled,
) -> Iterator[_Fit]:
    """Signals sighted on the lines of this exception that hold on its own text."""
    named = {
        sighting.signal
        for number in raised.lines
        for sighting in on_line.get((raised.line.file, number), ())
    }
    for name in sorted(named):
        signal = compiled.rulebook.signal_named[name]
        for source in signal.match:
            facts = _first_match(source, texts, compiled)
            if facts is not None and signal.strength != "context":
                weight = literal_weight(compiled.rulebook.patterns[source])
                level = _BY_PLAIN_WORDS if signal.general else _BY_TEXT
                yield (level, _RANK[signal.strength], weight), signal, facts
                break


def _by_class(raised: Raised, texts: Sequence[str], compiled: Compiled) -> Iterator[_Fit]:
    for signal in _signals_of_class(raised.type, compiled):
        facts = _narrowed(signal, raised, texts, compiled)
        if facts is None:
            continue
        named = 0 if "*" in signal.exception else 1
        narrowed = len(signal.narrowing)
        level = 2 if narrowed else named
        spelled = (source for source in (signal.message, signal.code) if source)
        weight = sum(literal_weight(compiled.rulebook.patterns[source]) for source in spelled)
        if signal.general:
            yield (_BY_PLAIN_WORDS, named, _MORE_THAN_ECHOES + narrowed), signal, facts
        else:
            yield (level, narrowed + named, weight), signal, facts


def _narrowed(
    signal: Signal, raised: Raised, texts: Sequence[str], compiled: Compiled
) -> Mapping[str, str] | None:
    """Give the facts of an exception that a signal's text, frames and source line fit."""
    if any(_first_match(veto, texts, compiled) is not None for veto in signal.unless):
        return None
    facts: dict[str, str] = {}
    for source, given in (
        (signal.message, texts),
        (signal.frames, raised.frames),
        (signal.code, [raised.code]),
    ):
        if source:
            found = _first_match(source, given, compiled)
            if found is None:
                return None
            facts |= found
    for source, depth in ((signal.raised_by, 1), (signal.raised_in, _RAISER_AND_CALLER)):
        if source:
            last = own_frames(raised.frames)[-depth:]
            met = [compiled.match(source, frame) for frame in last]
            if len(met) < depth or None in met:
                return None
            facts |= met[-1] or {}
    return facts


def _signals_of_class(name: str, compiled: Compiled) -> Iterable[Signal]:
    return (
        signal
        for signal in compiled.exception_signals
        if name in signal.exception or "*" in signal.exception
    )


def _first_match(source: str, texts: Sequence[str], compiled: Compiled) -> Mapping[str, str] | None:
    for text in texts:
        facts = compiled.match(source, text)
        if facts is not None:
            return facts
    return None


def _facts(raised: Raised) -> dict[str, str]:
    facts = {"exception": raised.type, "message": raised.message.split("\n", 1)[0][:200]}
    if raised.frames:
        facts["frame"] = raised.frames[-1]
    return facts


def _weakened(strength: Strength, kind: str) -> Strength:
    most = _AT_MOST.get(kind, strength)
    return most if _RANK[most] < _RANK[strength] else strength
