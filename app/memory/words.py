"""Find snippets by their words: BM25 over an inverted index in memory.

Words find what a person types (`NVLink fatal`), and they go on working where the index of vectors
does not. Bounded: about 8 bytes for each different word of each snippet; the oldest are not kept
beyond the number that the caller adds.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable

import numpy as np

from app.incident import Snippet

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
# RuntimeError, CUBLAS_STATUS_NOT_SUPPORTED: told from its first letters on, in linear time
_WHOLE = re.compile(r"\b(?:[^\Wa-z]*[a-z][^\WA-Z]*[A-Z]\w*|\w[^\W_]*_\w+)")
_ROOT_WEIGHT = 4
_K1, _B = 1.2, 0.75  # the usual values, see Robertson & Zaragoza 2009, section 3.2


class Words:
    """Which snippet holds which words, and how often."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._known: set[str] = set()
        self._lengths = array("f")
        self._places: dict[str, tuple[array[int], array[int]]] = {}

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> list[str]:
        """All that were taken in."""
        return list(self._ids)

    def __contains__(self, id: str) -> bool:
        return id in self._known

    def add(self, id: str, snippet: Snippet) -> None:
        """Take a snippet in; one that is known is passed over."""
        if id in self._known:
            return
        counts = _counts(snippet)
        place = len(self._ids)
        self._known.add(id)
        self._ids.append(id)
        self._lengths.append(counts.total())
        for word, count in counts.items():
            where, often = self._places.setdefault(word, (array("I"), array("H")))
            where.append(place)
            often.append(min(count, 65_535))

    def nearest(self, snippet: Snippet, most: int) -> list[tuple[str, float]]:
        """Give ids with their scores, the best first; nothing where no word is shared."""
        if not self._ids:
            return []
        lengths = np.frombuffer(self._lengths, np.float32)
        shrink = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()), 1.0))
        scores = np.zeros(len(self._ids), np.float32)
        for word, asked in _counts(snippet).items():
            if word not in self._places:
                continue
            where, often = (np.array(part) for part in self._places[word])
            rarity = np.log1p((len(self._ids) - len(where) + 0.5) / (len(where) + 0.5))
            scores[where] += asked * rarity * often * (_K1 + 1) / (often + shrink[where])
        best = np.argsort(-scores, kind="stable")[:most]
        return [(self._ids[place], float(scores[place])) for place in best if scores[place] > 0]


def _counts(snippet: Snippet) -> Counter[str]:
    """Count words, those of the root's line several times."""
    counts = Counter(words(snippet.lines[:1]))
    for word in counts:
        counts[word] *= _ROOT_WEIGHT
    counts.update(words(snippet.lines[1:]))
    return counts


def words(lines: Iterable[str]) -> Iterable[str]:
    """Give the words of lines: names in parts and whole, in small letters."""
    for line in lines:
        yield from (word.lower() for word in _WORDS.findall(line))
        yield from (word.lower() for word in _WHOLE.findall(line))
