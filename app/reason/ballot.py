"""Votes on filters: two regexes say the same when they meet the same lines of the log.

A model that is asked several times spells one thought in several ways, and a slip of one answer is
seldom repeated by the others. So what counts is the set of sample lines that a regex takes away. A
set is elected when more than half of all answers have a filter with it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.reason.forms import FilterReply
from app.rulebook.compiled import is_trouble, line_regexp
from app.rulebook.pattern import PatternError, literal_weight, parse
from app.token_count import tokens
from app.written import Volume

_WORD = re.compile(r"\w+|#")
_ALIKE = 0.75  # of the words of two kinds that are one


@dataclass(frozen=True, slots=True)
class Refusal:
    """A filter that does not count, and why."""

    name: str
    match: str
    why: str


class Sample:
    """Lines of a log, with what each stands for: so many lines, so many tokens.

    `kinds` numbers the kind of each; those that differ in a word or two, as by a name, are one.
    """

    def __init__(self, volume: Volume) -> None:
        self.volume = volume
        self.lines: list[bytes] = []
        self.kinds: list[int] = []
        self._weights: list[float] = []
        groups = _groups([kind.text for kind in volume.kinds])
        for group, kind in zip(groups, volume.kinds, strict=True):
            for text in kind.samples:
                self.lines.append(text.encode("utf-8", "replace"))
                self.kinds.append(group)
                self._weights.append(kind.count / len(kind.samples))

    @cached_property
    def calm(self) -> frozenset[int]:
        """The lines without a word of trouble; no written filter takes the others away."""
        return frozenset(i for i, line in enumerate(self.lines) if not is_trouble(line))

    def meets(self, match: str) -> frozenset[int]:
        """Give the lines that a filter takes away; raise PatternError."""
        regexp = line_regexp(parse(match).line)
        return frozenset(i for i in self.calm if regexp.search(self.lines[i]) is not None)

    def meet_any(self, matches: Iterable[str]) -> frozenset[int]:
        """Give the lines that any of several filters takes away."""
        return frozenset[int]().union(*map(self.meets, matches))

    def share_of_lines(self, met: frozenset[int]) -> float:
        """Give the part of all lines of the log that these stand for."""
        return sum(self._weights[i] for i in met) / max(1, self.volume.lines)

    def share_of_rest(self, met: frozenset[int]) -> float:
        """Give the part of what is left of the log, in tokens, that these stand for."""
        told = sum(self._weights[i] * tokens(self.lines[i].decode("utf-8", "replace")) for i in met)
        return told / max(1, self.volume.tokens)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Filters that take the same lines away, the most specific first, and how many answers agree.

    `hits` and `misses` of the filters are as the log has them, without masks.
    """

    filters: tuple[FilterReply, ...]
    meets: frozenset[int]
    votes: int
    answers: int


def elect(
    answers: Sequence[Sequence[FilterReply]], sample: Sample, asked: int
) -> tuple[list[Candidate], list[Refusal]]:
    """Count the votes; give what is elected, the largest first, and what is not."""
    refused: list[Refusal] = []
    groups: dict[frozenset[int], list[tuple[int, FilterReply]]] = {}
    for number, filters in enumerate(answers):
        for one in filters:
            try:
                met = sample.meets(one.match)
            except PatternError as error:
                refused.append(Refusal(one.name, one.match, f"not in linear time: {error}"))
                continue
            groups.setdefault(met, []).append((number, one))
    elected = []
    for met, told in groups.items():
        votes = len({number for number, _ in told})
        if 2 * votes > asked:
            elected.append(Candidate(tuple(_specific_first(told)), met, votes, asked))
        else:
            why = f"{votes} of {asked} answers take these lines away"
            refused += [Refusal(one.name, one.match, why) for _, one in told]
    return sorted(elected, key=lambda found: -sample.share_of_rest(found.meets)), refused


def _groups(texts: Sequence[str]) -> list[int]:
    """Number kinds: those of as many words, most of them the same, get one number."""
    firsts: list[list[str]] = []
    numbers: list[int] = []
    for text in texts:
        words = _WORD.findall(text)
        number = next((n for n, first in enumerate(firsts) if _alike(first, words)), len(firsts))
        if number == len(firsts):
            firsts.append(words)
        numbers.append(number)
    return numbers


def _alike(one: Sequence[str], other: Sequence[str]) -> bool:
    if len(one) != len(other):
        return False
    same = sum(a == b for a, b in zip(one, other, strict=True))
    return same >= _ALIKE * len(one)


def _specific_first(told: Sequence[tuple[int, FilterReply]]) -> Iterator[FilterReply]:
    distinct = {one.match: one for _, one in told}
    yield from sorted(
        distinct.values(), key=lambda one: (-literal_weight(parse(one.match)), len(one.match))
    )
