"""Take reports of job exits, wait for their logs, and read again what was written late.

A report is in the database before its sender hears of it, and stays marked as waiting until its
log has settled; who finds one that nobody waits for takes it up. From then on its steps are
durable work: diagnose, look once more.
"""

import asyncio
from dataclasses import replace

import structlog

from app.errors import Busy, StoreError
from app.model import Job
from app.settings import Settings
from app.store.diagnoses import Diagnoses, Place, Request, Upload
from app.store.exits import Exits, Known, Room
from app.store.ids import new_id
from app.store.threads import StoreThreads
from app.work import settling
from app.work.crew import Crew
from app.work.durable import Durable, Kind
from app.work.roots import LogRoots, location

_LOOK_AGAIN = "look_again"
_SETTLED_AT_ONCE = 1  # so that a burst of exits leaves the processor to those who report them
_NOT_ENDED_SECONDS = 5.0  # between looks at a diagnosis whose log is to be looked at again
_AT_ONCE = 1000  # they only sleep, and look at files now and then

log = structlog.get_logger()


class JobExits:
    """What becomes of a report; all methods belong to the event loop."""

    def __init__(
        self,
        settings: Settings,
        exits: Exits,
        diagnoses: Diagnoses,
        threads: StoreThreads,
        durable: Durable,
        crew: Crew,
        roots: LogRoots,
    ) -> None:
        self._settings = settings
        self._exits = exits
        self._diagnoses = diagnoses
        self._threads = threads
        self._durable = durable
        self._crew = crew
        self._roots = roots
        self._turn = asyncio.Semaphore(_SETTLED_AT_ONCE)
        self._settling: dict[str, asyncio.Task[None]] = {}
        durable.offer(Kind(_LOOK_AGAIN, self._look_again, at_once=_AT_ONCE, glance_seconds=1.0))

    async def accept(self, webhook_id: str, job: Job, uris: tuple[str, ...]) -> Known:
        """Keep a report; give the diagnosis that it belongs to.

        A second report of an exit has its log looked at again once its diagnosis has ended. Raises
        UsageError or OutsideRoots for a place that may not be read, Busy where too many wait.
        """
        places = tuple([Place(str(await asyncio.to_thread(self._roots.promised, u))) for u in uris])
        request = Request(new_id(), job, places, status="waiting")
        room = Room(self._crew.room, self._settings.waiting_limit)
        try:
            known = await self._threads.run(self._exits.accept, request, webhook_id, room)
        except Busy:
            await self._crew.count()  # which tells when to come back
            raise
        if known.is_new:
            self._settle_soon(request)
        elif known.webhook_id != webhook_id and known.status != "waiting":
            await self._durable.entrust(_LOOK_AGAIN, f"{known.id}:{webhook_id}", known.id)
        return known

    async def tend(self) -> None:
        """Settle what waits since before the start of this process, or at another that died.

        What lives elsewhere is settled twice, which changes nothing: it is begun once.
        """
        for request in await self._threads.run(self._diagnoses.unfinished):
            if request.status == "waiting":
                self._settle_soon(request)

    async def leave(self) -> None:
        """Wait no longer; the next start takes up what waits."""
        waiting = list(self._settling.values())
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    def _settle_soon(self, request: Request) -> None:
        if request.id not in self._settling:
            self._settling[request.id] = asyncio.create_task(self._settle(request))
            self._settling[request.id].add_done_callback(
                lambda task: self._settle_ended(request, task)
            )

    def _settle_ended(self, request: Request, task: asyncio.Task[None]) -> None:
        """Tell of what nobody expected; `tend` tries again."""
        del self._settling[request.id]
        if not task.cancelled() and (error := task.exception()):
            log.error("a log was not waited for", diagnosis_id=request.id, exc_info=error)

    async def _settle(self, request: Request) -> None:
        """Wait for the log, then have it read."""
        state = await self._settled(request)
        late = self._settings.late_log_seconds
        async with self._turn:
            try:
                if late:
                    await self._durable.entrust(
                        _LOOK_AGAIN, request.id, request.id, delay_seconds=late
                    )
                await self._threads.insist(self._exits.settle, request.id, state)
                await self._crew.begin(replace(request, status="queued"))
            except StoreError as error:
                log.warning("entrusted later", diagnosis_id=request.id, detail=str(error))

    async def _look_again(self, id: str) -> None:
        """Have the log read once more if it has changed since."""
        request = await self._threads.insist(self._diagnoses.request, id)
        while request is not None and request.status not in ("complete", "failed"):
            await asyncio.sleep(_NOT_ENDED_SECONDS)
            request = await self._threads.insist(self._diagnoses.request, id)
        if request is None:
            return
        state = await self._settled(request)
        if state != await self._threads.insist(self._exits.log_state, id):
            await self._crew.remake(id, "the log has changed", mark=state)
            await self._threads.insist(self._exits.settle, id, state)

    async def _settled(self, request: Request) -> str:
        named = [origin.path for origin in request.origins if not isinstance(origin, Upload)]
        places = [location(place) for place in named]
        quiet, most = self._settings.quiet_log_seconds, self._settings.log_wait_seconds
        return await settling.settled(places, quiet, most, self._roots.store)
