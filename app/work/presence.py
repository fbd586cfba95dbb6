"""Tell the other processes that this one lives, and take over from those that do not.

DBOS leaves the calls of a dead process to that process. Where several share a database, each
therefore writes now and then that it lives; one that has not for long is taken for dead, and its
calls are made by the others. A process that was only frozen makes them too when it wakes: calls
are idempotent, so that costs time and nothing else.
"""

import asyncio

import structlog

from app.errors import StoreError
from app.store.executors import Executors
from app.store.threads import StoreThreads
from app.work.durable import Durable

BEAT_SECONDS = 5.0
GONE_SECONDS = 30.0  # six beats: a pause of the garbage collector or a slow disk is no death

log = structlog.get_logger()


class Presence:
    """The heartbeat of one process."""

    def __init__(
        self, id: str, executors: Executors, threads: StoreThreads, durable: Durable
    ) -> None:
        self._id = id
        self._executors = executors
        self._threads = threads
        self._durable = durable

    async def keep(self) -> None:
        """Beat, and look after the dead, until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as error:
                log.warning("no heartbeat", detail=str(error))
            await asyncio.sleep(BEAT_SECONDS)

    async def look(self) -> None:
        """Beat once and take over from whoever is gone."""
        await self._threads.run(self._executors.beat, self._id)
        gone = await self._threads.run(self._executors.gone, GONE_SECONDS)
        if not gone:
            return
        log.warning("taking over", executors=gone)
        await self._durable.take_over(gone)
        for id in gone:
            await self._threads.run(self._executors.forget, id)

    async def leave(self) -> None:
        """Have the others take over at once what this process leaves."""
        await self._threads.run(self._executors.leave, self._id)
