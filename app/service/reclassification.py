"""Run reclassifications as durable work, one at a time; all methods belong to the event loop."""

import asyncio
import functools
from collections.abc import AsyncIterator, Sequence

import structlog
from sqlalchemy import Engine

from app.errors import FirstFaultError, UsageError
from app.rulebook.load import content_hash
from app.service.objects import object_store
from app.settings import Settings
from app.store.reclassifications import Change, Chosen, Reclassifications, Run
from app.store.threads import StoreThreads
from app.store.toll import Toll, toll
from app.work import reclassify
from app.work.durable import Durable, Kind
from app.work.rejudge import Surroundings

_KIND = "reclassify"
_GLANCE_SECONDS = 0.3
_MOST_CHANGES = 100_000  # that a table of what would be takes into account

log = structlog.get_logger()


class Reclassification:
    """What the faces can ask for about old diagnoses under the rules of today."""

    def __init__(
        self, settings: Settings, engine: Engine, threads: StoreThreads, durable: Durable
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._runs = Reclassifications(engine)
        self._threads = threads
        self._durable = durable
        durable.offer(Kind(_KIND, self._run, at_once=1, glance_seconds=0.5))

    async def begin(self, chosen: Chosen, *, applies: bool) -> Run:
        """Accept a run over what is complete now."""
        run = await self._threads.run(functools.partial(self._runs.begin, chosen, applies=applies))
        await self._durable.entrust(_KIND, run.id, run.id)
        return run

    async def find(self, id: str) -> Run:
        """Read one; raise NotFound."""
        return await self._threads.run(self._runs.find, id)

    async def page(self, limit: int) -> list[Run]:
        """List the newest."""
        return await self._threads.run(self._runs.page, limit)

    async def changes(self, id: str, after: str | None, limit: int) -> Sequence[Change]:
        """List which verdicts changed, or would."""
        return await self._threads.run(self._runs.changes, id, after, limit)

    async def toll(self, id: str) -> list[Toll]:
        """Give the table by cause of what the run is about, as it has come out."""
        run = await self.find(id)
        changes = await self._threads.run(self._runs.changes, id, None, _MOST_CHANGES)
        causes = {change.diagnosis_id: change.cause or "Unknown" for change in changes}
        return await self._threads.run(toll, self._engine, run.chosen, causes)

    async def cancel(self, id: str) -> Run:
        """Stop a run after the chunk that is under way; raise UsageError where it has ended."""
        run = await self.find(id)
        if run.status != "running":
            raise UsageError(f"reclassification {id} has ended: it is {run.status}")
        await self._threads.run(self._runs.end, id, "cancelled")
        return await self.find(id)

    async def watch(self, id: str) -> AsyncIterator[Run]:
        """Tell every step of a run, up to its end."""
        said = None
        while True:
            run = await self.find(id)
            if run != said:
                said = run
                yield run
            if run.status != "running":
                return
            await asyncio.sleep(_GLANCE_SECONDS)

    async def tend(self) -> None:
        """Enter into the book what is accepted and not there."""
        for id in await self._threads.run(self._runs.unfinished):
            await self._durable.entrust(_KIND, id, id)

    async def _run(self, id: str) -> None:
        run = await self._threads.insist(self._runs.find, id)
        if run.status != "running":
            return
        try:
            ended = await asyncio.to_thread(self._run_through, run)
        except FirstFaultError as error:
            await self._threads.insist(self._runs.end, id, "failed", str(error))
            log.error("reclassification failed", reclassification_id=id, detail=str(error))
            return
        log.info("reclassification ended", reclassification_id=id, status=ended.status)

    def _run_through(self, run: Run) -> Run:
        settings = self._settings
        with reclassify.executor(settings.workers, settings.dask_scheduler) as pool:
            return reclassify.run_through(
                self._runs, run, surroundings(settings), pool, at_once=settings.workers
            )


def surroundings(settings: Settings) -> Surroundings:
    """Say where the processes of a run find what they need."""
    data = settings.data_dir.absolute()
    return Surroundings(
        database=settings.database,
        rules=settings.rules_dir.absolute(),
        learned=settings.learned_dir,
        edition=content_hash(settings.rules_dir, settings.learned_dir),
        cache=settings.cache_dir.absolute(),
        uploads=data / "uploads",
        roots=tuple(settings.log_roots),
        max_log_bytes=settings.max_log_bytes,
        digest_tokens=settings.digest_tokens,
        store=object_store(settings),
    )
