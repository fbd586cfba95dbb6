"""What a model is shown of a confirmed failure, and of healthy runs that look like it."""

import re
from collections.abc import Iterable, Iterator, Sequence

from app.learn.labelled import Labelled
from app.memory.snippet import complaints, masked
from app.model import Line
from app.pipeline import Case

_MOST, _LAST, _FIRST = 24, 6, 3
_NEAR = 12
_LEAST_LIKE = 0.15  # of all words of two lines; below it they share only what all lines share
_BYTES = 4 << 20  # of each healthy log
_WORD = re.compile(r"[A-Za-z]{3,}")


def evidence(case: Case, quoted: Sequence[str], note: str) -> tuple[str, ...]:
    """Give the lines of a failure that tell most: quotes, what rules showed, complaints, the end.

    `quoted` are the lines that a model named before, `note` is what a person said.
    """
    lines = _own(case)
    shown = [item.text for item in case.diagnosis.verdict.evidence]
    last = [line.text for line in lines[-_LAST:]]
    told = [*quoted, *complaints(lines), *shown, *last]
    kept = tuple(dict.fromkeys(text for text in told if text.strip()))[:_MOST]
    return (*kept, f"(a person says of it: {note})") if note else kept


def alike(one: Case, other: Case) -> bool:
    """Say whether two failures complain of the same, what differs from run to run left out."""
    mine, theirs = (set(map(masked, complaints(_own(case))[:_FIRST])) for case in (one, other))
    return bool(mine & theirs)


def near(lines: Sequence[str], healthy: Iterable[Labelled]) -> tuple[str, ...]:
    """Find the lines of healthy runs that share most words with those of a failure."""
    wanted = [words for line in lines if (words := _words(line))]
    scored: dict[str, tuple[float, str]] = {}
    for text in _printed(healthy):
        words = _words(text)
        likeness = max((_likeness(words, other) for other in wanted), default=0.0)
        if likeness >= _LEAST_LIKE:
            scored.setdefault(masked(text), (likeness, text))
    best = sorted(scored.values(), key=lambda item: -item[0])
    return tuple(text for _, text in best[:_NEAR])


def _own(case: Case) -> list[Line]:
    """The lines of the attempt that was judged."""
    attempt = case.sighted.attempts[-1]
    return [line for line in case.sighted.log.lines if attempt.holds(line.file, line.number)]


def _printed(healthy: Iterable[Labelled]) -> Iterator[str]:
    for log in healthy:
        for path in log.paths:
            if path.is_file():
                with path.open(encoding="utf-8", errors="replace") as file:
                    yield from file.read(_BYTES).splitlines()


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))
