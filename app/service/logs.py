"""Logs that are named by their path alone: the same content is the same diagnosis."""

import asyncio
import hashlib
from pathlib import Path

from app.errors import UsageError
from app.model import Job
from app.store.diagnoses import Diagnoses, Place, Record, Request
from app.store.exits import Exits, Room
from app.store.ids import new_id
from app.store.threads import StoreThreads
from app.work.crew import Crew
from app.work.durable import URGENT
from app.work.roots import LogRoots
from app.work.settling import glance


class LogsByPath:
    """What callers that share a file system may ask; all methods belong to the event loop."""

    def __init__(
        self,
        exits: Exits,
        diagnoses: Diagnoses,
        threads: StoreThreads,
        crew: Crew,
        roots: LogRoots,
    ) -> None:
        self._exits = exits
        self._diagnoses = diagnoses
        self._threads = threads
        self._crew = crew
        self._roots = roots

    async def normalized(self, path: str) -> Path:
        """Resolve an absolute path; raise UsageError, OutsideRoots or SourceNotFound."""
        if not path.startswith("/") or "\0" in path:
            raise UsageError(f"{path[:200]!r}: not an absolute path")
        return await asyncio.to_thread(self._roots.check, Path(path))

    async def ask(self, path: Path, job: Job, wait_seconds: float = 0.0) -> Record:
        """Have a log diagnosed as it is now, once; give what is known after so many seconds."""
        state = (await asyncio.to_thread(glance, [path])).state
        name = hashlib.sha256(f"{path}\0{state}".encode("utf-8", "surrogateescape")).hexdigest()
        request = Request(new_id(), job, (Place(str(path)),))
        room = Room(self._crew.room, 0)
        known = await self._threads.run(self._exits.accept, request, f"path:{name}", room)
        if known.is_new:
            await self._crew.enter(request, URGENT)
        await self._crew.until_ended(known.id, wait_seconds)
        return await self._threads.run(self._diagnoses.find, known.id)
