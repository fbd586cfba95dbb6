"""How things stand beyond this process: what waits, what nobody took, what models took.

It is asked for with each look at the figures, by whom a part that is gone must not hold up: after
a while the last answer stands, and says that it is old.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.errors import StoreError
from app.incident import IndexState
from app.service.listeners import Listeners
from app.service.memory import IncidentMemory
from app.store.calls import Calls, Total
from app.store.diagnoses import Diagnoses
from app.store.threads import StoreThreads

_SECONDS = 2.0
_STATUSES = ("waiting", "queued")


@dataclass(frozen=True, slots=True)
class Outlook:
    """`unfinished` and `oldest` are by status: how many, and seconds since the oldest came.

    `model` is what calls took that any process ever made; it stays where the database is gone.
    """

    database: bool = False
    unfinished: Mapping[str, int] = field(default_factory=dict)
    oldest: Mapping[str, float] = field(default_factory=dict)
    dead: int = 0
    model: tuple[Total, ...] = ()
    index: IndexState = IndexState("down", 0, 0)  # noqa: RUF009  a frozen value


class Lookout:
    """Looks; belongs to the event loop."""

    def __init__(
        self,
        diagnoses: Diagnoses,
        listeners: Listeners,
        memory: IncidentMemory,
        calls: Calls,
        threads: StoreThreads,
    ) -> None:
        self.last = Outlook()
        self._diagnoses = diagnoses
        self._listeners = listeners
        self._memory = memory
        self._calls = calls
        self._threads = threads
        self._looking: asyncio.Task[None] | None = None

    async def look(self) -> None:
        """Bring `last` up to date; only one look is under way at any time."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        done, _ = await asyncio.wait({self._looking}, timeout=_SECONDS)
        if not done:
            self.last = replace(self.last, database=False)

    async def _look(self) -> None:
        self.last = replace(self.last, index=await self._memory.state())
        try:
            backlog = await self._threads.run(self._diagnoses.backlog)
            dead = await self._listeners.dead()
            model = await self._threads.run(self._calls.totals)
        except StoreError:
            self.last = replace(self.last, database=False)
            return
        now = time.time()
        self.last = replace(
            self.last,
            database=True,
            unfinished={each: backlog.get(each, (0, now))[0] for each in _STATUSES},
            oldest={each: max(now - backlog.get(each, (0, now))[1], 0.0) for each in _STATUSES},
            dead=dead,
            model=tuple(model),
        )
