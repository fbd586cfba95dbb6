"""Accept diagnoses, have them done, keep them: the one place with side effects.

A request is in the database before its caller hears of it, and its making is durable work, so a
service may be killed at any moment. Several may share one PostgreSQL database; one alone keeps a
SQLite file. All methods belong to the event loop; whatever blocks is sent to threads, whatever
computes to worker processes.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import structlog
from sqlalchemy import Engine

from app.errors import StoreError
from app.model import Job
from app.service.asking import asking
from app.service.exits import JobExits
from app.service.filters import WrittenFilters
from app.service.intake import LogIntake
from app.service.ledger import JobsAndHosts
from app.service.listeners import Listeners
from app.service.logs import LogsByPath
from app.service.memory import IncidentMemory
from app.service.outlook import Lookout
from app.service.reclassification import Reclassification
from app.service.retention import OldRows
from app.service.reviews import Reviews
from app.service.rules import LearnedRules
from app.settings import Settings
from app.store.calls import Calls
from app.store.database import connect
from app.store.deliveries import Deliveries
from app.store.diagnoses import Diagnoses, Entry, Origin, Record, Request
from app.store.executors import Executors
from app.store.exits import Exits
from app.store.filters import Filters
from app.store.history import PastVerdict, past_verdicts
from app.store.ids import new_id
from app.store.incidents import Incidents
from app.store.job_types import JobTypes
from app.store.kept import KeptLogs
from app.store.lock import FolderLock
from app.store.migrate import migrate
from app.store.outcome import is_refining
from app.store.refining import Refining
from app.store.retention import Retention
from app.store.threads import StoreThreads
from app.store.uploads import Uploads
from app.work import worker
from app.work.chores import repeat
from app.work.crew import Crew
from app.work.durable import URGENT, Durable
from app.work.lane import Lane
from app.work.live import State
from app.work.presence import Presence
from app.work.second import Second
from app.work.timings import Timings

_SWEEP_SECONDS = 3600
_REFINING_GLANCE_SECONDS = 0.5
_TEND_SECONDS = 30

log = structlog.get_logger()


class Service:
    """Everything that the faces can ask for."""

    def __init__(self, settings: Settings, prepare: worker.Prepare = worker.PipelineReader) -> None:
        """Open the database, the folders and the workers; blocks until the rules are loaded."""
        self.settings = settings
        with contextlib.ExitStack() as opened:
            data, cache = settings.data_dir.absolute(), settings.cache_dir.absolute()
            if settings.is_alone:
                opened.callback(FolderLock(data).release)
            engine = connect(settings.database)
            opened.callback(engine.dispose)
            migrate(engine)
            self._engine = engine
            self._diagnoses = Diagnoses(engine)
            self._threads = StoreThreads()
            opened.callback(self._threads.close)
            uploads = Uploads(data / "uploads", settings.min_free_bytes)
            self.intake = LogIntake(settings, uploads, self._diagnoses)
            self.learned = LearnedRules(settings, engine, self._threads)
            self.learned.open()
            folders = (settings.rules_dir.absolute(), settings.learned_dir, cache)
            lanes: list[Lane] = []
            for number in range(settings.workers):
                lanes.append(Lane(prepare, *folders))
                opened.callback(lanes[-1].close)
                if number == 0:  # it checks the rules, and fills the cache for the others
                    loaded = lanes[0].loaded_rules()
            self.rules = loaded.fingerprint
            KeptLogs(engine).know(loaded.fingerprint, loaded.patterns)
            self.memory = IncidentMemory(
                settings, data / "memory", Incidents(engine), self._threads
            )
            opened.callback(self.memory.close)
            self._asking = asking(settings)
            refiners = [
                Lane(prepare, *folders)
                for _ in range(settings.model_workers if self._asking else 0)
            ]
            for lane in refiners:
                opened.callback(lane.close)
            self._lanes = (*lanes, *refiners)
            self.learned.on_change(self._renew)
            self._open_listening(engine)
            self._open_work(engine, lanes, refiners)
            self._opened = opened.pop_all()

    def _open_listening(self, engine: Engine) -> None:
        """Set up the book of work, and what listens to it."""
        settings = self.settings
        self.timings = Timings()
        self._durable = Durable(settings.database, settings.executor)
        self._presence = Presence(
            settings.executor, Executors(engine), self._threads, self._durable
        )
        self.listeners = Listeners(
            settings,
            Deliveries(engine),
            self._diagnoses,
            self._threads,
            self._durable,
            self.timings,
        )
        self.lookout = Lookout(
            self._diagnoses, self.listeners, self.memory, Calls(engine), self._threads
        )

    def _open_work(self, engine: Engine, lanes: Sequence[Lane], refiners: Sequence[Lane]) -> None:
        """Set up what is done, and by whom; nothing runs yet."""
        settings = self.settings
        self.filters = WrittenFilters(
            settings, Filters(engine), JobTypes(engine), self._threads, self._durable
        )
        self.reviews = Reviews(settings, engine, self._threads, self._durable, self.learned)
        self.second = Second(
            refiners,
            self._diagnoses,
            Refining(engine),
            self._threads,
            self._durable,
            self._second_order,
            self.listeners.announce,
            self.timings,
            seconds=settings.diagnosis_seconds + settings.model_seconds,
        )
        self.crew = Crew(
            lanes,
            self._diagnoses,
            self._threads,
            self._durable,
            self._order,
            self.filters.notice,
            self.listeners.announce,
            self.second.begin,
            self.timings,
            queue_limit=settings.queue_limit,
            diagnosis_seconds=settings.diagnosis_seconds,
        )
        self.exits = JobExits(
            settings,
            Exits(engine),
            self._diagnoses,
            self._threads,
            self._durable,
            self.crew,
            self.intake.roots,
        )
        self.reclassification = Reclassification(
            settings, engine, self._threads, self._durable, self.intake.roots
        )
        self.logs = LogsByPath(
            Exits(engine), self._diagnoses, self._threads, self.crew, self.intake.roots
        )
        self._old_rows = OldRows(settings, Retention(engine), self._threads, self._durable)
        self.ledger = JobsAndHosts(engine, self._threads, settings.retry_budget)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Make what is unfinished and what comes until the block ends; then close everything."""
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(asyncio.to_thread, self.close)
            await self._durable.open()
            stack.push_async_callback(self._durable.close)
            stack.push_async_callback(self._presence.leave)
            stack.push_async_callback(self.crew.drain, self.settings.drain_seconds)
            stack.push_async_callback(self.exits.leave)
            for chore in (self._presence.keep, self._tend, self._sweep, self.memory.keep):
                stack.push_async_callback(_end, asyncio.create_task(chore()))
            yield

    def close(self) -> None:
        """End the workers and let go of the data folder."""
        self._opened.close()

    async def submit(
        self, job: Job, origins: tuple[Origin, ...], callback_url: str | None = None
    ) -> str:
        """Accept a diagnosis and give its id; raise Busy where too many wait."""
        if callback_url is not None:
            callback_url = self.listeners.check(callback_url)
        request = Request(new_id(), job, origins, callback_url=callback_url)
        await self.crew.accept(request, URGENT)
        return request.id

    async def find(self, id: str, wait_seconds: float = 0.0) -> Record:
        """Read a diagnosis, once it has ended or after so many seconds; raise NotFound."""
        await self.crew.until_ended(id, wait_seconds)
        record = await self._threads.run(self._diagnoses.find, id)
        return replace(record, status=self._status(record))

    def progress(self, id: str) -> float:
        """How much of its log is read; 0 where it waits."""
        state = self.crew.state(id)
        return state.progress if state else 0.0

    async def digest(self, id: str) -> str:
        """Read the digest of a complete diagnosis; raise NotReady or NotFound."""
        return await self._threads.run(self._diagnoses.digest, id)

    async def history(self, id: str) -> list[PastVerdict]:
        """List the answers that were replaced; raise NotFound."""
        await self._threads.run(self._diagnoses.find, id)
        return await self._threads.run(past_verdicts, self._engine, id)

    async def page(
        self,
        *,
        job_id: str | None = None,
        cause: str | None = None,
        since: float | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> list[Entry]:
        """List diagnoses, the newest first; `before` is the last id of the page above."""
        found = await self._threads.run(
            self._diagnoses.page,
            job_id=job_id,
            cause=cause,
            since=since,
            before=before,
            limit=limit,
        )
        return [replace(entry, status=self._status(entry)) for entry in found]

    async def watch(self, id: str) -> AsyncIterator[State]:
        """Tell every change of status and progress; the last one is the end."""
        async for state in self.crew.watch(id):
            yield state
        if is_refining((await self.find(id)).answer):
            yield State("refining", 1.0)
        while is_refining((await self.find(id)).answer):
            await asyncio.sleep(_REFINING_GLANCE_SECONDS)
        yield State((await self.find(id)).status, 1.0)

    async def faults(self) -> dict[str, str | None]:
        """Say what keeps the service from working: database, rules, disk; None is well.

        Rules are loaded by the workers, so `rules` also tells of workers that cannot start.
        """
        found = {"rules": self.crew.fault}
        for name, check in (
            ("database", self._diagnoses.check),
            ("disk", self.intake.check_space),
        ):
            try:
                await self._threads.run(check)
                found[name] = None
            except StoreError as error:
                found[name] = str(error)
        return found

    def _renew(self, rules: str) -> None:
        """Have all that is read from now on read under other rules."""
        self.rules = rules
        for lane in self._lanes:
            lane.renew()

    def _status(self, kept: Record | Entry) -> str:
        state = self.crew.state(kept.id) if kept.status == "queued" else None
        return state.status if state else kept.status

    def _order(self, request: Request) -> worker.Order:
        return worker.Order(
            id=request.id,
            job=request.job,
            paths=tuple(map(self.intake.path, request.origins)),
            max_log_bytes=self.settings.max_log_bytes,
            digest_tokens=self.settings.digest_tokens,
            memory=self.memory.recall,
            types=self.filters.types_for(request.job.job_type),
            refines=self._asking is not None,
            store=self.intake.store,
            request_id=request.request_id,
        )

    def _second_order(self, request: Request) -> worker.Order:
        return replace(self._order(request), asking=self._asking)

    async def _tend(self) -> None:
        """Look after what nobody may have noted or ended."""
        chores = {
            "looking after exits": self.exits.tend,
            "looking after diagnoses": self.crew.tend,
            "looking after refined answers": self.second.tend,
            "looking after messages": self.listeners.tend,
            "looking after reclassifications": self.reclassification.tend,
            "looking after rules": self.learned.tend,
            "looking after reviews": self.reviews.tend,
        }
        await repeat(chores, _TEND_SECONDS)

    async def _sweep(self) -> None:
        """Remove what is too old."""
        chores = {
            "removing uploads": self._remove_uploads,
            "retiring filters": self.filters.retire_idle,
            **self._old_rows.chores,
        }
        await repeat(chores, _SWEEP_SECONDS)

    async def _remove_uploads(self) -> None:
        if removed := await self._threads.run(self.intake.remove_old):
            log.info("old uploads removed", count=removed)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
