"""Ask the memory of incidents, and keep the process alive that holds it."""

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path

from app.errors import StoreError
from app.incident import Incident, IndexState, Recalled, Snippet
from app.settings import Settings
from app.store.incidents import Incidents
from app.store.threads import StoreThreads
from app.work.keeping import Keeping
from app.work.recall import Recall

_STATE_SECONDS = 1.0  # whoever asks for figures does not wait long
_NO_MEMORY = "memory is switched off (FIRSTFAULT_MEMORY)"


class IncidentMemory:
    """Past incidents; all methods but `close` belong to the event loop."""

    def __init__(
        self, settings: Settings, folder: Path, incidents: Incidents, threads: StoreThreads
    ) -> None:
        self._incidents = incidents
        self._threads = threads
        self._seconds = settings.memory_seconds
        self._keeping = _keeping(settings, folder) if settings.memory else None

    @property
    def recall(self) -> Recall | None:
        """What asks memory, for workers as for callers; None where it is switched off."""
        return Recall(self._keeping.socket, self._seconds) if self._keeping else None

    async def keep(self) -> None:
        """Keep the keeper alive until cancelled."""
        if self._keeping:
            await self._keeping.keep()

    def close(self) -> None:
        """End the keeper."""
        if self._keeping:
            self._keeping.close()

    async def state(self) -> IndexState:
        """Tell how the index fares: also `down` without its keeper, `off` without memory."""
        if self._keeping is None:
            return IndexState("off", 0, 0)
        recall = Recall(self._keeping.socket, _STATE_SECONDS)
        try:
            return await asyncio.to_thread(recall.state)
        except StoreError:
            return IndexState("down", 0, 0)

    async def alike(self, snippet: Snippet, most: int, but: str | None = None) -> Recalled:
        """Find past incidents that are like this one, the likest first."""
        if self.recall is None:
            return Recalled(note=_NO_MEMORY)
        return await asyncio.to_thread(self.recall.nearest, snippet, most, but)

    async def alike_text(self, text: str, most: int) -> Recalled:
        """Find past incidents by words or lines of a log."""
        if self.recall is None:
            return Recalled(note=_NO_MEMORY)
        return await asyncio.to_thread(self.recall.search, text, most)

    async def incidents(self, ids: Collection[str]) -> Mapping[str, Incident]:
        """Read incidents by id; those that are not there are left out."""
        return await self._threads.run(self._incidents.incidents, ids)

    async def incident(self, id: str) -> Incident:
        """Read an incident by its id or that of its diagnosis; raise NotFound."""
        return await self._threads.run(self._incidents.find, id)


def _keeping(settings: Settings, folder: Path) -> Keeping:
    return Keeping(
        settings.database,
        folder,
        chroma_url=settings.chroma_url,
        embedder=settings.embedder,
        most=settings.memory_limit,
    )
