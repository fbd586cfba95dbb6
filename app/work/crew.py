"""Have accepted diagnoses made: by the lanes of this process, or by another that shares the book.

The book of durable work says who makes which; here is what one process knows of those that it
makes just now. How the others are doing is read from the database. All methods belong to the
event loop.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import structlog

from app.errors import Busy, FirstFaultError, StoreError
from app.store.diagnoses import Diagnoses, Request
from app.store.ids import accepted_at
from app.store.outcome import Fault, Outcome
from app.store.threads import StoreThreads
from app.work import journal, worker
from app.work.durable import PATIENT, USUAL, Durable, Kind
from app.work.lane import Lane
from app.work.live import Live, State, Tally
from app.work.outcomes import fault_of
from app.work.timings import Timings
from app.written import Seen

_GLANCE_SECONDS = 0.2  # how often those are looked at that somebody watches
_AHEAD = 2  # diagnoses that are taken from the book for each lane, so that none stands idle
_MOST_ENTERED = 10_000  # whose wait is known; others may be made by another process
_KIND, _AGAIN = "diagnose", "diagnose_again"

_GIVEN_UP = Fault(
    "GivenUp",
    500,
    "the call that reads the log failed, or its process died each time; the log of the service "
    "tells more",
)

log = structlog.get_logger()


class Crew:
    """Takes diagnoses from the book.

    `write_order` says what a worker is told; `notice` is given what a log tells of its type of
    job. `announce` is called after each answer, and again where the process died before it was
    done. Before that, `refine` is asked to have the answer refined, where it is to be. `timings`
    is told how long each stage took.
    """

    def __init__(
        self,
        lanes: Sequence[Lane],
        diagnoses: Diagnoses,
        threads: StoreThreads,
        durable: Durable,
        write_order: Callable[[Request], worker.Order],
        notice: Callable[[str, Seen], Awaitable[None]],
        announce: Callable[[str], Awaitable[None]],
        refine: Callable[[str], Awaitable[None]],
        timings: Timings,
        *,
        queue_limit: int,
        diagnosis_seconds: float,
    ) -> None:
        self.tally = Tally()
        self.queued = 0  # of all processes that share the book, when it was last looked at
        self._lanes = lanes
        self._free: asyncio.Queue[Lane] = asyncio.Queue()
        self._diagnoses = diagnoses
        self._threads = threads
        self._durable = durable
        self._write_order = write_order
        self._notice = notice
        self._announce = announce
        self._refine = refine
        self._timings = timings
        self._entered: dict[str, float] = {}
        self._queue_limit = queue_limit
        self._diagnosis_seconds = diagnosis_seconds
        self._live: dict[str, Live] = {}
        self._draining = False
        for lane in lanes:
            self._free.put_nowait(lane)
        durable.offer(Kind(_KIND, self._make, at_once=len(lanes) * _AHEAD))
        durable.offer(Kind(_AGAIN, self._make_again, len(lanes) * _AHEAD, glance_seconds=1.0))

    @property
    def running(self) -> int:
        """How many lanes of this process read a log."""
        return len(self._lanes) - self._free.qsize()

    @property
    def deaths(self) -> int:
        """How many worker processes had to be replaced."""
        return sum(lane.deaths for lane in self._lanes)

    @property
    def fault(self) -> str | None:
        """Why a worker cannot work, where one cannot."""
        return next((lane.fault for lane in self._lanes if lane.fault), None)

    @property
    def retry_after(self) -> int:
        """Seconds after which a caller that was turned away may find room."""
        done = self.tally.complete.total() + self.tally.failed.total()
        mean = self.tally.seconds / done if done else 1.0
        return min(max(math.ceil(mean * self.queued / len(self._lanes)), 1), 60)

    async def admit(self) -> None:
        """Raise Busy where no further diagnosis can be taken."""
        if await self.count() >= self.room:
            raise Busy(f"{self.queued} diagnoses are waiting already; try again later")

    @property
    def room(self) -> int:
        """How many diagnoses there may be that are read or wait for it."""
        return self._queue_limit + len(self._lanes)

    async def count(self) -> int:
        """Count what is read or waits for it, and note how many of those wait."""
        queued = await self._threads.run(self._diagnoses.count_queued)
        self.queued = max(queued - self.running, 0)
        return queued

    async def accept(self, request: Request, priority: int = USUAL) -> None:
        """Keep a request and have it made; raise Busy where too many wait.

        Once the row is written the request is safe: where the book cannot be reached, `tend`
        enters it there later.
        """
        await self.admit()
        await self._threads.run(self._diagnoses.add, request)
        try:
            await self.enter(request, priority)
        except StoreError as error:
            log.warning("entrusted later", diagnosis_id=request.id, detail=str(error))

    async def begin(self, request: Request) -> None:
        """Have a diagnosis made that is in the database, now that its log is quiet."""
        self._timings.note("log", time.time() - accepted_at(request.id))
        await self.enter(request)

    async def enter(self, request: Request, priority: int = USUAL) -> None:
        """Have a diagnosis made that is in the database."""
        self._entered[request.id] = time.monotonic()
        if len(self._entered) > _MOST_ENTERED:
            del self._entered[next(iter(self._entered))]
        await self._durable.entrust(_KIND, request.id, request.id, priority=priority)

    async def remake(self, id: str, why: str, mark: str) -> None:
        """Have a diagnosis made again; the same `mark` asks for the same making."""
        revision = (await self._threads.run(self._diagnoses.find, id)).revision
        told = (id, why, str(revision))
        await self._durable.entrust(_AGAIN, f"{id}:{mark}", *told, priority=PATIENT)

    async def tend(self) -> None:
        """Enter into the book what is accepted and not there; close what is given up there."""
        unfinished = await self._threads.run(self._diagnoses.unfinished)
        queued = {request.id: request for request in unfinished if request.status == "queued"}
        standing = await self._durable.standing(_KIND, list(queued))
        for id in standing.missing:
            await self.enter(queued[id])
        for id in standing.lost:
            log.error("given up", diagnosis_id=id)
            await self._threads.run(self._diagnoses.finish, id, _GIVEN_UP)
        for id in standing.done:
            await self._mend(id)

    async def _mend(self, id: str) -> None:
        """Have a call made again that ended, if its diagnosis still has no answer."""
        request = await self._threads.run(self._diagnoses.request, id)
        if request and request.status == "queued" and id not in self._live:
            log.error("its call ended without an answer, and is made again", diagnosis_id=id)
            await self._durable.again(_KIND, id)

    async def drain(self, seconds: float) -> None:
        """Begin nothing more, and wait that long for what is being read."""
        end = time.monotonic() + seconds
        self._draining = True
        while not self._free.empty():
            self._free.get_nowait()
        for live in [live for live in self._live.values() if live.lane]:
            await live.change(max(end - time.monotonic(), 0.0))

    async def until_ended(self, id: str, seconds: float) -> None:
        """Wait for the end of a diagnosis, but no longer than that."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if live := self._live.get(id):
                await live.change(left)
            elif await self._threads.run(self._diagnoses.is_unfinished, id):
                await asyncio.sleep(min(left, _GLANCE_SECONDS / 2))
            else:
                return

    def state(self, id: str) -> State | None:
        """How far a diagnosis is that this process makes; None of any other."""
        live = self._live.get(id)
        return live.state if live else None

    async def watch(self, id: str) -> AsyncIterator[State]:
        """Tell every change of status and progress, until the diagnosis has ended."""
        said = None
        while True:
            live = self._live.get(id)
            state = live.state if live else State("queued", 0.0)
            if not live and not await self._threads.run(self._diagnoses.is_unfinished, id):
                return
            if state != said:
                said = state
                yield state
            await (live.change(_GLANCE_SECONDS) if live else asyncio.sleep(_GLANCE_SECONDS))

    async def _make(self, id: str) -> None:
        """Make a diagnosis, once; a second call ends no earlier than the first, and does nothing.

        If it did, the book would say that the diagnosis is made, and nobody would make it where
        this process dies meanwhile.
        """
        request = await self._at_rest(id)
        if request is None:
            return
        with journal.about(id, request.request_id):
            if request.status == "queued":
                await self._make_live(request)
            await self._answered(id)

    async def _at_rest(self, id: str) -> Request | None:
        """Read what was asked, once it is not being made here any more."""
        while True:
            request = await self._threads.insist(self._diagnoses.request, id)
            if not (live := self._live.get(id)):
                return request
            await live.changed.wait()

    async def _make_live(self, request: Request) -> None:
        live = self._live[request.id] = Live()
        try:
            async with self._lane() as lane:
                live.run(lane)
                if entered := self._entered.pop(request.id, None):
                    self._timings.note("queue", time.monotonic() - entered)
                await self._diagnose(request, lane)
        finally:
            del self._live[request.id]
            live.changed.set()

    async def _answered(self, id: str) -> None:
        """What follows each answer; done again where the process died in the midst of it."""
        await self._refine(id)
        await self._announce(id)

    async def _make_again(self, id: str, why: str, revision: str) -> None:
        """Make a diagnosis that has an answer, unless a later one than `revision` is there.

        One that fails now leaves the answer as it is.
        """
        request = await self._threads.insist(self._diagnoses.request, id)
        if request is None or request.status in ("queued", "waiting"):
            return
        with journal.about(id, request.request_id):
            await self._replace(request, why, int(revision))

    async def _replace(self, request: Request, why: str, revision: int) -> None:
        id = request.id
        if (await self._threads.insist(self._diagnoses.find, id)).revision > revision:
            await self._answered(id)
            return
        async with self._lane() as lane:
            result = (await self._read(request, lane)).result
        if isinstance(result, Fault):
            log.warning("not made again", diagnosis_id=id, kind=result.kind, detail=result.detail)
            return
        await self._threads.insist(self._diagnoses.replace, id, result, why)
        self._timings.note_all(result.seconds)
        log.info("made again", diagnosis_id=id, cause=result.cause, why=why)
        await self._answered(id)

    @contextlib.asynccontextmanager
    async def _lane(self) -> AsyncIterator[Lane]:
        lane = await self._free.get()
        try:
            yield lane
        finally:
            if not self._draining:
                self._free.put_nowait(lane)

    async def _diagnose(self, request: Request, lane: Lane) -> None:
        began = time.monotonic()
        reading = await self._read(request, lane)
        read = time.monotonic()
        await self._threads.insist(self._diagnoses.finish, request.id, reading.result)
        self._timings.note("keep", time.monotonic() - read)
        self._count(request.id, reading, time.monotonic() - began)
        if isinstance(reading.result, Outcome) and reading.result.seen:
            await self._notice(request.id, reading.result.seen)

    async def _read(self, request: Request, lane: Lane) -> worker.Reading:
        try:
            order = await asyncio.to_thread(self._write_order, request)
        except FirstFaultError as error:
            return worker.Reading(fault_of(error))
        return await lane.read(order, self._diagnosis_seconds)

    def _count(self, id: str, reading: worker.Reading, seconds: float) -> None:
        self.tally.seconds += seconds
        self.tally.cpu_seconds += reading.cpu_seconds
        result = reading.result
        self._timings.answers.observe(max(time.time() - accepted_at(id), 0.0))
        if isinstance(result, Outcome):
            self._timings.note_all(result.seconds)
            self.tally.complete[result.cause] += 1
            known = "no" if result.cause == "Unknown" else "yes"
            self.tally.methods[result.method, known] += 1
            log.info("complete", diagnosis_id=id, cause=result.cause, seconds=round(seconds, 3))
            return
        self.tally.failed[result.kind] += 1
        log.warning("failed", diagnosis_id=id, kind=result.kind, detail=result.detail)
