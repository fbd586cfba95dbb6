"""Run reclassifications as durable work, one at a time; all methods belong to the event loop."""

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import structlog
from sqlalchemy import Engine

from app.errors import FirstFaultError, NoSuchCause, StoreError, UsageError
from app.reason.prompt import Prompts
from app.rulebook.load import content_hash, load
from app.rulebook.rulebook import OUTCOMES
from app.rulebook.wording import meant
from app.service.asking import asking
from app.service.objects import object_store
from app.settings import Settings
from app.store.reclassifications import Reclassifications
from app.store.run import Allowance, Asks, Change, Chosen, Listed, Run
from app.store.threads import StoreThreads
from app.store.toll import Toll, toll
from app.work import reclassify
from app.work.durable import Durable, Kind
from app.work.folder import jobs_in, shown
from app.work.roots import LogRoots
from app.work.surroundings import Surroundings

_KIND = "reclassify"
_GLANCE_SECONDS = 0.3
_AGAIN_SECONDS = 30.0  # after the database was gone
_GIVEN_UP = (
    "the call that goes on with the run failed, or its process died each time; the log of the "
    "service tells more"
)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Wish:
    """A model for what rules leave in doubt; None is that of the settings. 0 is no limit."""

    model: str | None = None
    calls: int = 0
    tokens: int = 0


class Reclassification:
    """What the faces can ask for about old diagnoses under the rules of today."""

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        threads: StoreThreads,
        durable: Durable,
        roots: LogRoots,
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._runs = Reclassifications(engine)
        self._threads = threads
        self._durable = durable
        self._roots = roots
        durable.offer(Kind(_KIND, self._run, at_once=1, glance_seconds=0.5))

    async def begin(self, chosen: Chosen, *, applies: bool, wish: Wish | None = None) -> Run:
        """Accept a run over what is complete now, or over the logs of folders below a log root.

        Raises UsageError, SourceError, and RulebookError where the prompts cannot be used.
        """
        if wish is not None and self._settings.model is None:
            raise UsageError("no language model is configured (FIRSTFAULT_MODEL)")
        add = functools.partial(self._begun, chosen, applies, wish)
        run = await self._threads.run(add)
        try:
            await self._durable.entrust(_KIND, run.id, run.id)
        except StoreError as error:  # written it is: asked again, there would be two
            log.warning("entrusted later", reclassification_id=run.id, detail=str(error))
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

    async def listed(self, id: str) -> Listed:
        """Count these."""
        return await self._threads.run(self._runs.listed, id)

    def every_change(self, id: str) -> Iterator[Change]:
        """Go through all of these; blocks."""
        return self._runs.every_change(id)

    async def toll(self, id: str) -> list[Toll]:
        """Give the table by cause of what the run is about, as it has come out."""
        run = await self.find(id)
        return await self._threads.run(self._toll, run)

    async def cancel(self, id: str) -> Run:
        """Stop a run within seconds; raise UsageError where it has ended."""
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
        """Enter into the book what is accepted and not there; close what is given up there."""
        standing = await self._durable.standing(
            _KIND, await self._threads.run(self._runs.unfinished)
        )
        for id in standing.missing:
            await self._durable.entrust(_KIND, id, id)
        for id in standing.lost:
            log.error("given up", reclassification_id=id)
            await self._threads.run(self._runs.end, id, "failed", _GIVEN_UP)

    def _toll(self, run: Run) -> list[Toll]:
        return toll(self._engine, run, self._runs.every_change(run.id))

    def _begun(self, chosen: Chosen, applies: bool, wish: Wish | None) -> Run:
        settings, total = self._settings, None
        if chosen.cause is not None:
            check_cause(self._runs, settings, chosen.cause)
        if chosen.logs:
            places = tuple(str(self._roots.place(uri)) for uri in chosen.logs)
            chosen = replace(chosen, logs=places, within_roots=True)
            total = len(jobs_in(places, object_store(settings)))
        return self._runs.begin(
            chosen,
            applies=applies,
            rules=content_hash(settings.rules_dir, settings.learned_dir),
            asks=asks(settings, wish) if wish else None,
            total=total,
        )

    async def _run(self, id: str) -> None:
        while (run := await self._threads.insist(self._runs.find, id)).status == "running":
            stop = threading.Event()
            work = functools.partial(go_on, self._runs, run, self._settings, stop=stop)
            try:
                ended = await asyncio.to_thread(work)
            except asyncio.CancelledError:
                stop.set()  # a thread cannot be cancelled, and the process would wait for it
                raise
            except StoreError as error:
                log.warning("reclassification waits", reclassification_id=id, detail=str(error))
                await asyncio.sleep(_AGAIN_SECONDS)
            except FirstFaultError as error:
                await self._fail(id, str(error))
            except Exception as error:  # noqa: BLE001  the edge of a background run, which must end
                log.exception("reclassification broke", reclassification_id=id)
                await self._fail(id, f"{type(error).__name__}: {error}")
            else:
                log.info("reclassification ended", reclassification_id=id, status=ended.status)

    async def _fail(self, id: str, why: str) -> None:
        await self._threads.insist(self._runs.end, id, "failed", shown(why))
        log.error("reclassification failed", reclassification_id=id, detail=why)


def go_on(
    runs: Reclassifications,
    run: Run,
    settings: Settings,
    progress: reclassify.Progress = lambda _: None,
    stop: threading.Event | None = None,
) -> Run:
    """Go on with a run to its end, as the settings have it; raises as `reclassify.go_on`."""
    engine = reclassify.Engine(settings.workers, settings.dask_scheduler)
    return reclassify.go_on(runs, run, surroundings(settings, run), engine, progress, stop)


def check_cause(runs: Reclassifications, settings: Settings, cause: str) -> None:
    """Raise NoSuchCause for one that neither the rules nor any diagnosis names."""
    if runs.has_cause(cause):
        return
    rules = load(settings.rules_dir, settings.cache_dir, settings.learned_dir)
    known = sorted({*rules.causes, *OUTCOMES})
    if cause not in known:
        raise NoSuchCause(f"{cause} is no cause{meant(cause, known)}")


def asks(settings: Settings, wish: Wish) -> Asks:
    """Say which model a run asks, with the prompts as they are now.

    Raises UsageError where there is no model, RulebookError where the prompts cannot be used.
    """
    model = wish.model or settings.model
    if model is None:
        raise UsageError("no language model is configured (FIRSTFAULT_MODEL)")
    folder = settings.prompts_dir.absolute()
    prompts = Prompts(folder)
    return Asks(model, str(folder), prompts.fingerprint, wish.calls, wish.tokens)


def surroundings(settings: Settings, run: Run) -> Surroundings:
    """Say where the processes of a run find what they need."""
    data = settings.data_dir.absolute()
    told = None
    if run.asks is not None:
        meant = {"model": run.asks.model, "prompts_dir": Path(run.asks.prompts)}
        told = asking(settings.model_copy(update=meant))
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
        log_seconds=settings.diagnosis_seconds,
        store=object_store(settings),
        asking=replace(told, allowance=Allowance(run.id, run.asks)) if told and run.asks else None,
    )
