"""Take up what each log says of its type of job, and have filters written where they are wanted.

The writing is durable work: one at a time for each type, in a process of its own, since it needs
rules and labelled logs that the service itself does not hold. A diagnosis never waits for it.
"""

import asyncio
import contextlib
import sys
import time

import structlog

from app.errors import StoreError
from app.service.asking import asking
from app.settings import Settings
from app.store.filters import Filters, KeptFilter
from app.store.job_types import JobTypes, Noted
from app.store.threads import StoreThreads
from app.work.asking import Asking
from app.work.durable import PATIENT, Durable, Kind
from app.work.filter_task import REPORT, TASK, Report, Task
from app.written import JobType, Seen

_WRITE = "write_filters"
_AT_ONCE = 1
_START_SECONDS = 120  # for rules and labelled logs to be read
_GLANCE_SECONDS = 1.0
_REMEMBERED_SECONDS = 2.0  # what is known of types, so that not every log asks the database

log = structlog.get_logger()


class WrittenFilters:
    """The filters of all types; `types_for` is for threads, the rest for the event loop."""

    def __init__(
        self,
        settings: Settings,
        filters: Filters,
        types: JobTypes,
        threads: StoreThreads,
        durable: Durable,
    ) -> None:
        self.collapses = 0  # logs that compressed much worse than those of their type before
        self.written = 0
        self.refused = 0
        self._settings = settings
        self._asking = asking(settings)
        self._filters = filters
        self._types = types
        self._threads = threads
        self._durable = durable
        self._remembered: tuple[float, tuple[JobType, ...]] = (0.0, ())
        durable.offer(Kind(_WRITE, self._write, at_once=_AT_ONCE, glance_seconds=_GLANCE_SECONDS))

    def types_for(self, job_type: str | None) -> tuple[JobType, ...]:
        """Give the types among which the filters for a log are chosen; blocks.

        Without the database a log is read with the shipped filters alone.
        """
        try:
            known = self._filters.known(job_type) if job_type else self._known()
        except StoreError as error:
            log.warning("read without written filters", detail=str(error))
            return ()
        return known if any(each.routines for each in known) else ()

    async def notice(self, diagnosis_id: str, seen: Seen) -> None:
        """Take up one log; a failure of the database costs this notice and no diagnosis."""
        try:
            noted = await self._threads.run(
                self._types.note, seen, self._settings.digest_tokens, diagnosis_id
            )
            if noted is not None:
                self._tell(noted, diagnosis_id)
                await self._have_written(noted)
        except StoreError as error:
            log.warning("type of job not noted", diagnosis_id=diagnosis_id, detail=str(error))

    async def page(self, job_type: str | None, state: str | None) -> list[KeptFilter]:
        """List filters."""
        return await self._threads.run(self._filters.page, job_type, state)

    async def switch(self, id: str, *, on: bool) -> KeptFilter:
        """Let a filter take lines away, or not; raise NotFound."""
        self._remembered = (0.0, ())
        return await self._threads.run(self._filters.switch, id, on=on)

    async def retire_idle(self) -> None:
        """Retire what has taken no line for long; raise StoreError."""
        if count := await self._threads.run(self._filters.retire_idle):
            log.info("idle filters retired", count=count)

    def _known(self) -> tuple[JobType, ...]:
        at, known = self._remembered
        if time.monotonic() - at > _REMEMBERED_SECONDS:
            known = self._filters.known()
            self._remembered = (time.monotonic(), known)
        return known

    def _tell(self, noted: Noted, diagnosis_id: str) -> None:
        if noted.collapsed:
            self.collapses += 1
            log.warning(
                "a log hardly compresses",
                job_type=noted.job_type,
                diagnosis_id=diagnosis_id,
                detail=noted.collapsed,
            )

    async def _have_written(self, noted: Noted) -> None:
        if noted.wants_filters and self._asking and self._settings.filters:
            told = (noted.job_type, str(noted.writings))
            await self._durable.entrust(_WRITE, ":".join(told), *told, priority=PATIENT)

    async def _write(self, job_type: str, writing: str) -> None:
        """Write the filters of a type; a writing that is done already changes nothing."""
        if self._asking is None:  # no model is configured any more
            return
        report = await self._report(self._task(job_type, int(writing), self._asking))
        self.written += len(report.kept)
        self.refused += report.refused
        self._remembered = (0.0, ())
        told = {"job_type": job_type, "kept": report.kept, "refused": report.refused}
        if report.fault:
            log.warning("no filters written", detail=report.fault, **told)
        else:
            log.info("filters written", reasons=report.reasons, **told)

    async def _report(self, task: Task) -> Report:
        seconds = _START_SECONDS + self._settings.model_seconds
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # another `app` may lie in the present folder
            "-m",
            "app.work.filter_writer",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the service, with which it ends
        )
        try:
            order = TASK.dump_json(task) + b"\n"  # not in view: it holds a key
            told, _ = await asyncio.wait_for(process.communicate(order), seconds)
        except TimeoutError:
            return Report(fault=f"nothing came of it within {seconds:g} seconds")
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        if not told.endswith(b"\n"):
            return Report(fault=f"its process ended with status {process.returncode}")
        return REPORT.validate_json(told)

    def _task(self, job_type: str, writing: int, asking: Asking) -> Task:
        settings = self._settings
        return Task(
            job_type=job_type,
            writing=writing,
            asking=asking,
            database=settings.database,
            rules=settings.rules_dir.absolute(),
            learned=settings.learned_dir.absolute(),
            fixtures=settings.fixtures_dir.absolute(),
            answers=settings.filter_answers,
        )
