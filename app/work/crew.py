"""The queue of diagnoses and the workers that take from it; belongs to the event loop."""

import asyncio
import contextlib
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

import structlog

from app.errors import Busy, FirstFaultError
from app.store.diagnoses import Diagnoses, Request
from app.store.outcome import Outcome
from app.store.threads import StoreThreads
from app.work import worker
from app.work.lane import Lane

_GLANCE_SECONDS = 0.2  # how often progress is looked at for those who watch

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class State:
    """How far a diagnosis is."""

    status: str
    progress: float


@dataclass(slots=True)
class Tally:
    """What was done since the start."""

    complete: Counter[str] = field(default_factory=Counter)  # by cause
    failed: Counter[str] = field(default_factory=Counter)  # by kind of fault
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(slots=True, eq=False)
class _Live:
    """A diagnosis that has not ended; `changed` is set, and replaced, when its status changes."""

    request: Request
    status: str = "queued"
    lane: Lane | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def state(self) -> State:
        return State(self.status, self.lane.progress if self.lane else 0.0)

    def run(self, lane: Lane) -> None:
        self.status, self.lane = "running", lane
        self.changed.set()
        self.changed = asyncio.Event()

    async def change(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.changed.wait(), seconds)


class Crew:
    """Has accepted requests done, the oldest first; `write_order` says what a worker is told."""

    def __init__(
        self,
        lanes: Sequence[Lane],
        diagnoses: Diagnoses,
        threads: StoreThreads,
        write_order: Callable[[Request], worker.Order],
        *,
        queue_limit: int,
        diagnosis_seconds: float,
    ) -> None:
        self.tally = Tally()
        self._lanes = lanes
        self._diagnoses = diagnoses
        self._threads = threads
        self._write_order = write_order
        self._queue_limit = queue_limit
        self._diagnosis_seconds = diagnosis_seconds
        self._live: dict[str, _Live] = {}
        self._queue: asyncio.Queue[_Live] = asyncio.Queue()

    @property
    def queued(self) -> int:
        """How many diagnoses wait for a worker."""
        return sum(live.status == "queued" for live in self._live.values())

    @property
    def running(self) -> int:
        """How many workers read a log."""
        return len(self._live) - self.queued

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

    def admit(self) -> None:
        """Raise Busy where no further diagnosis can be taken."""
        if len(self._live) >= self._queue_limit + len(self._lanes):
            raise Busy(f"{self.queued} diagnoses are waiting already; try again later")

    async def accept(self, request: Request) -> None:
        """Keep a request and put it in the queue; raise Busy where that is full."""
        self.admit()
        live = _Live(request)
        self._live[request.id] = live  # holds the seat while the row is written
        try:
            await self._threads.run(self._diagnoses.add, request)
        except BaseException:
            del self._live[request.id]
            raise
        self._queue.put_nowait(live)

    def take_up(self, requests: Sequence[Request]) -> None:
        """Queue what an earlier process has accepted, however much that is."""
        for request in requests:
            self._live[request.id] = live = _Live(request)
            self._queue.put_nowait(live)

    async def work(self) -> None:
        """Keep every lane busy until cancelled."""
        async with asyncio.TaskGroup() as group:
            for lane in self._lanes:
                group.create_task(self._serve(lane))

    async def until_ended(self, id: str, seconds: float) -> None:
        """Wait for the end of a diagnosis, but no longer than that."""
        end = time.monotonic() + seconds
        while (live := self._live.get(id)) and (left := end - time.monotonic()) > 0:
            await live.change(left)

    def state(self, id: str) -> State | None:
        """How far a diagnosis is; None where it has ended."""
        live = self._live.get(id)
        return live.state if live else None

    async def watch(self, id: str) -> AsyncIterator[State]:
        """Tell every change of status and progress, until the diagnosis has ended."""
        said = None
        while live := self._live.get(id):
            if live.state != said:
                said = live.state
                yield said
            await live.change(_GLANCE_SECONDS)

    async def _serve(self, lane: Lane) -> None:
        while True:
            live = await self._queue.get()
            try:
                await self._diagnose(live, lane)
            except Exception:  # noqa: BLE001  the edge of a background run; the lane goes on
                log.exception("left for the next start", diagnosis_id=live.request.id)
            finally:
                del self._live[live.request.id]
                live.changed.set()

    async def _diagnose(self, live: _Live, lane: Lane) -> None:
        began = time.monotonic()
        id = live.request.id
        live.run(lane)
        reading = await self._read(live.request, lane)
        await self._threads.insist(self._diagnoses.finish, id, reading.result)
        self._count(id, reading, time.monotonic() - began)

    async def _read(self, request: Request, lane: Lane) -> worker.Reading:
        try:
            order = await asyncio.to_thread(self._write_order, request)
        except FirstFaultError as error:
            return worker.Reading(worker.fault_of(error))
        return await lane.read(order, self._diagnosis_seconds)

    def _count(self, id: str, reading: worker.Reading, seconds: float) -> None:
        self.tally.seconds += seconds
        self.tally.cpu_seconds += reading.cpu_seconds
        result = reading.result
        if isinstance(result, Outcome):
            self.tally.complete[result.cause] += 1
            log.info("complete", diagnosis_id=id, cause=result.cause, seconds=round(seconds, 3))
            return
        self.tally.failed[result.kind] += 1
        log.warning("failed", diagnosis_id=id, kind=result.kind, detail=result.detail)
