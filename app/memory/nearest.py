"""Remember incidents and find those that are like a failure.

Words and vectors each name candidates, and their ranks are joined: a line that a person types has
few words, a failure told in other words shares none. Similarity is the cosine, reckoned from the
vectors that SQL holds; what the index says decides only who is looked at. Incidents that people
confirmed are few and weigh most, so all of them are looked at, without an index.

Where the index breaks it is filled again from SQL; where its server is gone, words and confirmed
incidents answer alone, and the answer says so.
"""

import threading
from collections.abc import Callable, Mapping, Sequence

from app.incident import Changed, Incident, IndexState, Precedent, Recalled, Snippet
from app.memory.embed import Embedder, Vectors
from app.memory.index import Index, WholeIndex
from app.memory.shelf import Shelf, Space
from app.memory.snippet import tells
from app.memory.words import Words

MOST = 100_000
_CANDIDATES = 50
_RRF = 10  # of 10 and the usual 60 the better on labelled logs (python -m tests.retrieval)
_AGREEING = 2
_LOOKED_AT = 5
_OVERLAP_SECONDS = 10.0  # in which what began earlier may be committed later
_BATCH = 200  # incidents that are embedded at once


class Memory:
    """Searches a shelf; may be used from several threads.

    `most` bounds whose words are held; beyond it new incidents are found by vectors alone.
    """

    def __init__(
        self,
        shelf: Shelf,
        embedder: Embedder,
        index: Callable[[], Index] | None = None,
        *,
        most: int = MOST,
    ) -> None:
        self._shelf = shelf
        self._embedder = embedder
        self._space = Space(shelf, embedder.name)
        self._index = WholeIndex(index, self._space) if index else None
        self._most = most
        self._words = Words()
        self._confirmed: dict[str, Vectors] = {}
        self._seen_at = 0.0
        self._recent: dict[str, float] = {}
        self._catching_up = threading.Lock()
        self._searching = threading.Lock()

    def catch_up(self) -> int:
        """Take in what has changed on the shelf; give how much that was."""
        taken = 0
        with self._catching_up:
            since = (self._seen_at - _OVERLAP_SECONDS, "")
            while found := self._shelf.changed(since, _BATCH):
                since = (found[-1].at, found[-1].id)
                fresh = [one for one in found if self._recent.get(one.id) != one.at]
                vectors = self._embedded(fresh)  # may take seconds, in which others may search
                with self._searching:
                    self._take(fresh, vectors)
                self._recent.update((one.id, one.at) for one in fresh)
                taken += len(fresh)
            self._seen_at = max(self._seen_at, since[0])
            self._forget_recent()
            more = self._index is not None
            while more and self._index:
                with self._searching:
                    more = self._index.fill()
        return taken

    def rebuild(self) -> int:
        """Make the index anew from the shelf; give the number of vectors in it."""
        if self._index is None:
            return 0
        with self._searching:
            self._index.begin_anew()
        self.catch_up()
        return self._index.size

    def search(self, snippet: Snippet, most: int) -> Recalled:
        """Find incidents that a person may mean, the best first, however little they share."""
        return self._find(snippet, most)

    def nearest(self, snippet: Snippet, most: int, but: str | None = None) -> Recalled:
        """Find failures like this one, the likest first; `but` is left out."""
        return self._find(snippet, most, but, least=self._embedder.alike_from)

    @property
    def state(self) -> IndexState:
        """How the index fares; waits for nobody."""
        return self._index.state if self._index else IndexState("whole", 0, 0)

    def _find(
        self, snippet: Snippet, most: int, but: str | None = None, least: float = 0.0
    ) -> Recalled:
        if not snippet.text.strip():
            return Recalled()
        vector = self._embedder.embed([snippet])[0]
        with self._searching:
            by_words = [id for id, _ in self._words.nearest(snippet, _CANDIDATES)]
            by_index, note = self._index.near(vector, _CANDIDATES) if self._index else ([], None)
            confirmed = dict(self._confirmed)
        vectors = {**confirmed, **self._space.vectors({*by_words, *by_index})}
        likeness = {id: _cosine(vector, other) for id, other in vectors.items() if id != but}
        by_likeness = sorted(likeness, key=lambda id: (-likeness[id], id))
        best = joined(by_likeness, [id for id in by_words if id != but])[:_CANDIDATES]
        closest = [id for id in by_likeness if id in confirmed][:_LOOKED_AT]
        known = self._shelf.incidents({*best, *closest})
        ranked = _distinct([known[id] for id in best if id in known])
        near = [one for one in ranked if likeness.get(one.id, 0.0) >= least]
        found = [_precedent(one, likeness.get(one.id, 0.0)) for one in near[:most]]
        agreed = None
        if tells(snippet):
            agreed = self._agreed([known[id] for id in closest if id in known], likeness)
        return Recalled(tuple(found), agreed, note)

    def _agreed(self, closest: Sequence[Incident], likeness: Mapping[str, float]) -> str | None:
        """Name the cause of all confirmed incidents that lie very close, if two or more do."""
        bound = self._embedder.speaks_from
        near = [one for one in closest if bound is not None and likeness[one.id] >= bound]
        causes = {one.cause for one in near}
        return near[0].cause if len(near) >= _AGREEING and len(causes) == 1 else None

    def _forget_recent(self) -> None:
        begin = self._seen_at - _OVERLAP_SECONDS
        self._recent = {id: at for id, at in self._recent.items() if at >= begin}

    def _take(self, found: Sequence[Changed], vectors: Mapping[str, Vectors]) -> None:
        for one in found:
            if one.confirmed:
                self._confirmed[one.id] = vectors[one.id]
            if len(self._words) < self._most:
                self._words.add(one.id, one.snippet)
        if self._index:
            self._index.want([one.id for one in found])

    def _embedded(self, found: Sequence[Changed]) -> Mapping[str, Vectors]:
        """Give the vector of each, and have it kept where it is not."""
        kept = self._space.vectors([one.id for one in found])
        fresh = [one for one in found if one.id not in kept]
        made = self._embedder.embed([one.snippet for one in fresh]) if fresh else ()
        new = {one.id: row for one, row in zip(fresh, made, strict=True)}
        if new:
            self._space.keep(new)
        return {**kept, **new}


def joined(*ranked: Sequence[str]) -> list[str]:
    """Join rankings by reciprocal ranks (Cormack, Clarke & Buettcher 2009)."""
    scores: dict[str, float] = {}
    for ids in ranked:
        for rank, id in enumerate(ids, 1):
            scores[id] = scores.get(id, 0.0) + 1 / (_RRF + rank)
    return sorted(scores, key=lambda id: (-scores[id], id))


def _distinct(incidents: Sequence[Incident]) -> list[Incident]:
    """Let one stand for all that failed alike and were judged alike, if possible a confirmed one.

    A job that is started a hundred times would else fill the list with itself.
    """
    shown: dict[tuple[str, ...], Incident] = {}
    for one in incidents:
        alike = (one.fingerprint, *one.snippet.lines[:1], one.cause)
        before = shown.setdefault(alike, one)
        if one.confirmed and not before.confirmed:
            shown[alike] = one
    return list(shown.values())


def _precedent(incident: Incident, likeness: float) -> Precedent:
    similarity = round(min(max(likeness, 0.0), 1.0), 3)
    return Precedent(incident.id, incident.cause, similarity, incident.confirmed is not None)


def _cosine(one: Vectors, other: Vectors) -> float:
    """Both have the length one; vectors of another size are not alike."""
    return float(one @ other) if one.shape == other.shape else 0.0
