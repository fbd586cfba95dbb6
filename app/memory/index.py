"""Keep an index of vectors whole: fill it from the shelf, mend it, do without it.

An index holds nothing of its own. What it lacks is put in from the shelf, some at a time; one that
is broken is put aside and filled again; one whose server is gone is left alone for a while. So a
search never fails for its index, it only says that it looked with less.
"""

import time
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from app.errors import StoreError
from app.incident import IndexState
from app.memory.embed import Vectors
from app.memory.shelf import Space

_AGAIN_SECONDS = 10.0  # before a server that was gone is asked again
_AT_ONCE = 500  # vectors put in while searches wait, about half a second
_TRIES = 2
GONE = "the index of incidents cannot be reached; these were found by their words"
UNFILLED = "the index of incidents is being filled; these were found by their words"


class IndexBroken(StoreError):
    """The index cannot be read or written, and must be made again."""


class IndexGone(StoreError):
    """The server of the index does not answer."""


class Index(Protocol):
    """What finds near vectors; raises IndexBroken or IndexGone."""

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Take vectors in; those of known ids are replaced."""

    def nearest(self, vector: Vectors, most: int) -> list[str]:
        """Give the ids of near vectors, the nearest first."""

    def ids(self) -> set[str]:
        """Say what is in it."""

    def begin_anew(self) -> None:
        """Put what is there aside and begin with an empty index."""


class WholeIndex:
    """An index, opened at its first use, and what it should hold; for one thread at a time."""

    def __init__(self, open_index: Callable[[], Index], space: Space) -> None:
        self._open_index = open_index
        self._space = space
        self._wanted: set[str] = set()
        self._held: set[str] | None = None  # not looked at yet
        self._gone_until = 0.0

    def want(self, ids: Collection[str]) -> None:
        """Note what the index should hold, and that what it holds of these is old."""
        self._wanted.update(ids)
        if self._held is not None:
            self._held.difference_update(ids)

    def fill(self) -> bool:
        """Put some of what is missing in; say whether there is more that can be put in now."""
        if time.monotonic() < self._gone_until:
            return False
        for _ in range(_TRIES):
            try:
                return self._fill()
            except IndexGone:
                self._leave_alone()
                return False
            except IndexBroken:
                if not self._begun_anew():
                    return False
        return False

    def begin_anew(self) -> None:
        """Empty the index, unseen; raise IndexBroken or IndexGone."""
        self._gone_until = 0.0
        self._index.begin_anew()
        self._held = set()

    @property
    def size(self) -> int:
        """How much is in it."""
        return len(self._held or ())

    @property
    def state(self) -> IndexState:
        """How it fares, as far as it was used; may be asked from any thread."""
        known, held = len(self._wanted), self.size
        if time.monotonic() < self._gone_until:
            return IndexState("gone", held, known)
        return IndexState("filling" if held < known else "whole", held, known)

    def near(self, vector: Vectors, most: int) -> tuple[list[str], str | None]:
        """Give ids of near vectors, and what there is to say of the index."""
        if not self._wanted:
            return [], None
        if time.monotonic() < self._gone_until:
            return [], GONE
        if not self._held:
            return [], UNFILLED
        try:
            note = None if len(self._held) + _AT_ONCE > len(self._wanted) else UNFILLED
            return self._index.nearest(vector, min(most, len(self._held))), note
        except IndexGone:
            self._leave_alone()
            return [], GONE
        except IndexBroken:
            self._begun_anew()
            return [], UNFILLED

    @cached_property
    def _index(self) -> Index:
        return self._open_index()

    def _fill(self) -> bool:
        if not self._wanted:
            return False
        if self._held is None:
            self._held = self._index.ids()
        missing = sorted(self._wanted - self._held)
        now = missing[:_AT_ONCE]
        vectors = self._space.vectors(now)
        if vectors:
            self._index.add(list(vectors), np.stack(list(vectors.values())))
            self._held.update(vectors)
        self._wanted -= set(now) - set(vectors)  # gone from the shelf
        return len(missing) > len(now)

    def _begun_anew(self) -> bool:
        try:
            self._index.begin_anew()
        except (IndexBroken, IndexGone):
            self._leave_alone()
            return False
        self._held = set()
        return True

    def _leave_alone(self) -> None:
        """Wait for the server; it may come back with less than it held."""
        self._held = None
        self._gone_until = time.monotonic() + _AGAIN_SECONDS
