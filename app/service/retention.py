"""Have deleted what the settings say is too old; what is never deleted, `app.store` knows."""

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable

import structlog

from app.settings import Settings
from app.store.retention import Retention
from app.store.threads import StoreThreads
from app.work.chores import Chore
from app.work.durable import Durable

_MOST = 200  # rows in one transaction, some ten milliseconds
_MOST_LOGS = 20  # of up to 4 MB each
_PAUSE_SECONDS = 0.05  # between two, in which whoever waits to write may
_DAY = 86_400

log = structlog.get_logger()

_Delete = Callable[[float, int], int]


class OldRows:
    """The rows of the database that have a time to live; belongs to the event loop."""

    def __init__(
        self, settings: Settings, retention: Retention, threads: StoreThreads, durable: Durable
    ) -> None:
        self._threads = threads
        self._durable = durable
        records, logs = settings.keep_records_days, settings.keep_logs_days
        self._deletes: tuple[tuple[str, float, int, _Delete], ...] = (
            ("results", settings.keep_results_days, _MOST, retention.results),
            ("kept logs", logs, _MOST_LOGS, retention.kept_logs),
            ("past verdicts", records, _MOST, retention.past_verdicts),
            ("deliveries", records, _MOST, retention.deliveries),
            ("model calls", records, _MOST, retention.calls),
            ("reclassifications", records, _MOST, retention.reclassifications),
        )
        self._records_days = records

    @property
    def chores(self) -> dict[str, Chore]:
        """Give what is to be done now and then, by name."""
        found: dict[str, Chore] = {}
        for what, days, most, rows in self._deletes:
            some = functools.partial(self._some, rows)
            found[f"removing {what}"] = functools.partial(_remove, what, days, most, some)
        ended = functools.partial(
            _remove, "durable work", self._records_days, _MOST, self._durable.forget
        )
        return {**found, "removing durable work": ended}

    async def _some(self, rows: _Delete, before: float, most: int) -> int:
        return await self._threads.run(rows, before, most)


async def _remove(
    what: str, days: float, most: int, some: Callable[[float, int], Awaitable[int]]
) -> None:
    """Delete what is older than so many days, `most` at a time; 0 days are for ever."""
    before, total = time.time() - days * _DAY, 0
    while days and (count := await some(before, most)):
        total += count
        await asyncio.sleep(_PAUSE_SECONDS)
    if total:
        log.info("old rows removed", what=what, count=total)
