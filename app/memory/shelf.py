"""Where incidents are kept, as memory sees it: rows with vectors in bytes, of any database."""

from collections.abc import Collection, Mapping
from typing import Protocol

import numpy as np

from app.incident import Changed, Incident
from app.memory.embed import Vectors

_KEPT = np.dtype("<f4")  # as it is kept, on machines of either byte order


class Shelf(Protocol):
    """What keeps incidents; every call may raise StoreError."""

    def changed(self, since: tuple[float, str], most: int) -> list[Changed]:
        """List what changed after a time and id, in that order."""

    def vectors(self, ids: Collection[str], space: str) -> Mapping[str, bytes]:
        """Give the vectors of that space that are kept."""

    def keep_vectors(self, space: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors in place of what there was."""

    def incidents(self, ids: Collection[str]) -> Mapping[str, Incident]:
        """Give the incidents that are there."""


class Space:
    """The vectors of one embedder on a shelf."""

    def __init__(self, shelf: Shelf, name: str) -> None:
        self._shelf = shelf
        self._name = name

    def vectors(self, ids: Collection[str]) -> dict[str, Vectors]:
        """Give those that are kept."""
        kept = self._shelf.vectors(ids, self._name) if ids else {}
        return {id: np.frombuffer(row, _KEPT).astype(np.float32) for id, row in kept.items()}

    def keep(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors in place of what there was."""
        rows = {id: vector.astype(_KEPT).tobytes() for id, vector in vectors.items()}
        self._shelf.keep_vectors(self._name, rows)
