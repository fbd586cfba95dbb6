"""Calls that survive: what is entrusted is kept in the database until it has been carried out.

DBOS keeps the book and hands out the calls; nothing else here knows of it. A call that was under
way when its process died is made again, from its start, by that process when it comes back or by
another one that was told of the death (`take_over`). So whatever is entrusted must be idempotent,
and takes only short texts: the id of a row, never a log.

DBOS is one to a process, and so is an open Durable.
"""

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetEnqueueOptions, SetWorkflowID
from dbos import error as faults
from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app.errors import StoreError

# Names the form of the calls. A process takes up only calls of its own form, so this changes
# with the arguments of a kind, never with a release.
_FORM = "1"
_POOL = 10
_RECOVERIES = 1000  # of one call; past that it is left alone and told of by `lost`
_DONE = "SUCCESS"
_ENDED = ("ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
_LOOKED_UP = 500  # ids in one query

Run = Callable[..., Coroutine[None, None, None]]
URGENT, USUAL, PATIENT = 1, 100, 10_000  # priorities: the lower goes first


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of call: what is done, how many at once in this process.

    The queue is looked at every `glance_seconds`, which bounds how long a call waits for nothing,
    and how many start: at most `at_once` in each glance. A glance costs some 3 ms of CPU time.
    """

    name: str
    run: Run
    at_once: int
    glance_seconds: float = 0.1


@dataclass(frozen=True, slots=True)
class Standing:
    """Of some calls, those that the book does not know, those that it gave up, and those done."""

    missing: frozenset[str]
    lost: frozenset[str]
    done: frozenset[str] = frozenset()


class Durable:
    """The book of entrusted calls; all methods belong to the event loop."""

    def __init__(self, database: str, executor: str) -> None:
        """Name this process `executor`; one that comes back under its name resumes its calls."""
        self._book = _book(database)
        self._config = DBOSConfig(
            name="firstfault",
            system_database_url=self._book,
            executor_id=executor,
            application_version=_FORM,
            serializer=DBOSPortableJSONSerializer(),
            sys_db_pool_size=_POOL,
            log_level="WARNING",
        )
        self._kinds: dict[str, Kind] = {}
        self._calls: dict[str, Run] = {}

    def offer(self, kind: Kind) -> None:
        """Name a kind of call, before `open`."""
        self._kinds[kind.name] = kind

    async def open(self) -> None:
        """Begin to carry out calls; raise StoreError where the book cannot be opened."""
        logging.getLogger("dbos").setLevel(logging.WARNING)
        DBOS(config=self._config)
        for kind in self._kinds.values():
            self._calls[kind.name] = DBOS.workflow(
                name=kind.name, max_recovery_attempts=_RECOVERIES
            )(_named(kind))
        try:
            with _told():
                await asyncio.to_thread(_write_ahead, self._book)
                await self._launch()
        except StoreError:
            DBOS.destroy(destroy_registry=True)
            raise

    async def _launch(self) -> None:
        DBOS.launch()
        for kind in self._kinds.values():
            await DBOS.register_queue_async(
                kind.name,
                worker_concurrency=kind.at_once,
                polling_interval_sec=kind.glance_seconds,
                on_conflict="always_update",
            )

    async def close(self) -> None:
        """Stop; what is under way is dropped here and made again at the next start.

        DBOS logs each call that it drops as an error, which it is not.
        """
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        await asyncio.to_thread(DBOS.destroy, destroy_registry=True)
        # DBOS had put its own threads, now gone, in the place of the loop's.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())

    async def entrust(
        self, kind: str, id: str, *texts: str, priority: int = USUAL, delay_seconds: float = 0.0
    ) -> None:
        """Keep a call; one whose `id` is known already changes nothing. Raises StoreError."""
        options = SetEnqueueOptions(priority=priority, delay_seconds=delay_seconds or None)
        with _told(), SetWorkflowID(f"{kind}:{id}"), options:
            await DBOS.enqueue_workflow_async(kind, self._calls[kind], *texts)

    async def standing(self, kind: str, ids: Sequence[str]) -> Standing:
        """Tell which of these calls were never entrusted, and how those that ended did."""
        known: dict[str, str] = {}
        for start in range(0, len(ids), _LOOKED_UP):
            some = ids[start : start + _LOOKED_UP]
            with _told():
                found = await DBOS.list_workflows_async(
                    workflow_ids=[f"{kind}:{id}" for id in some],
                    load_input=False,
                    load_output=False,
                )
            known |= {each.workflow_id.partition(":")[2]: each.status for each in found}
        return Standing(
            missing=frozenset(ids) - known.keys(),
            lost=frozenset(id for id, status in known.items() if status in _ENDED),
            done=frozenset(id for id, status in known.items() if status == _DONE),
        )

    async def again(self, kind: str, id: str) -> None:
        """Have a call made once more that ended; one that somebody makes just now stays."""
        with _told(), contextlib.suppress(faults.DBOSException):
            await DBOS.rewind_workflow_async(f"{kind}:{id}", queue_name=kind)

    async def forget(self, before: float, most: int) -> int:
        """Strike off the oldest calls that ended before a time; give how many there were."""
        with _told():
            ended = await DBOS.list_workflows_async(
                status=[_DONE, *_ENDED],
                completed_before=datetime.fromtimestamp(before, UTC).isoformat(),
                limit=most,
                load_input=False,
                load_output=False,
            )
            if ended:
                await DBOS.delete_workflows_async([each.workflow_id for each in ended])
        return len(ended)

    async def lost(self, kind: str) -> list[str]:
        """Name calls of a kind that ended without success, the newest 500 at most."""
        with _told():
            found = await DBOS.list_workflows_async(
                name=kind,
                status=list(_ENDED),
                limit=_LOOKED_UP,
                sort_desc=True,
                load_input=False,
                load_output=False,
            )
        return [each.workflow_id.partition(":")[2] for each in found]

    async def take_over(self, executors: Sequence[str]) -> None:
        """Have the calls made that dead processes had begun; a second taker finds none left."""
        with _told():
            # The public resume_workflow would also restart what another taker has begun.
            await asyncio.to_thread(DBOS._recover_pending_workflows, list(executors))


def _book(database: str) -> str:
    """Give the URL of the book.

    On PostgreSQL that is the same database. A SQLite file has one writer at a time, and the book
    is written at each step of each call; so that nobody else waits for these, it is a file of its
    own beside the other.
    """
    url = make_url(database)
    if url.get_backend_name() != "sqlite" or not url.database:
        return database
    return url.set(database=str(Path(url.database).with_suffix(".work.db"))).render_as_string(False)


def _write_ahead(book: str) -> None:
    """Have a SQLite file write ahead, which it keeps to: readers never wait for its writer."""
    url = make_url(book)
    if url.get_backend_name() == "sqlite" and url.database:
        with contextlib.closing(sqlite3.connect(url.database)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")


def _named(kind: Kind) -> Run:
    async def call(*texts: str) -> None:
        await kind.run(*texts)

    call.__qualname__ = call.__name__ = kind.name
    return call


@contextlib.contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (DBAPIError, SQLAlchemyError, sqlite3.Error, OSError) as error:
        reason = str(getattr(error, "orig", None) or error)
        raise StoreError(f"the book of durable work cannot be used: {reason}") from error
