"""Memory for one command: the incidents in the database, searched without the index."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from app.errors import StoreError
from app.incident import Incident, Recalled, Snippet
from app.memory.embed import embedder
from app.memory.index import Index
from app.memory.nearest import Memory
from app.memory.snippet import of_text
from app.settings import Settings
from app.store.database import connect
from app.store.incidents import Incidents

_MOST = 5


@dataclass(frozen=True)
class Showing:
    """What a diagnosis asks; a failure of memory is told in the note."""

    known: "Remembered"
    most: int

    def nearest(self, snippet: Snippet) -> Recalled:
        """Find the incidents that are most like this one."""
        try:
            return self.known.nearest(snippet, self.most)
        except StoreError as error:
            return Recalled(note=f"past incidents cannot be asked: {error}")


class Remembered:
    """The incidents of a database; read when they are first asked for. Raises StoreError."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._shelf = Incidents(connect(settings.database))
        self._memory: Memory | None = None

    def search(self, text: str, most: int) -> Recalled:
        """Find what is like a text."""
        return self._read().search(of_text(text), most)

    def like(self, id: str, most: int) -> Recalled:
        """Find what is like an incident; raise NotFound."""
        incident = self._shelf.find(id)
        return self._read().nearest(incident.snippet, most, incident.id)

    def nearest(self, snippet: Snippet, most: int) -> Recalled:
        """Find what is like a failure."""
        return self._read().nearest(snippet, most)

    def showing(self, most: int = _MOST) -> Showing:
        """Give what a diagnosis asks."""
        return Showing(self, most)

    def incidents(self, ids: Collection[str]) -> dict[str, Incident]:
        """Read incidents."""
        return dict(self._shelf.incidents(ids))

    def rebuild(self, index: Callable[[str], Index]) -> int:
        """Fill an index, to be made for a space of vectors, from the database."""
        return self._made(index).rebuild()

    def _read(self) -> Memory:
        if self._memory is None:
            self._memory = self._made()
            self._memory.catch_up()
        return self._memory

    def _made(self, index: Callable[[str], Index] | None = None) -> Memory:
        chosen = embedder(self._settings.embedder)
        opened = (lambda: index(chosen.name)) if index else None
        return Memory(self._shelf, chosen, opened, most=self._settings.memory_limit)
