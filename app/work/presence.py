"""Tell the other processes that this one lives, and take over from those that do not.

DBOS leaves the calls of a dead process to that process. Where several share a database, each
therefore writes now and then that it lives; one that has not for long is taken for dead, and its
calls are made by the others. A process that was only frozen makes them too when it wakes: calls
are idempotent, so that costs time and nothing else.

The clocks of two machines may differ by hours, so none is compared with another: each process
counts its own looks at which nothing was new of the others. A look that fails counts for nothing,
so nobody is taken for dead because the database was away from all.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from app.store.executors import LEFT, Executors
from app.store.threads import StoreThreads
from app.work.chores import repeat
from app.work.durable import Durable

BEAT_SECONDS = 5.0
MISSED = 6  # beats, 30 seconds: a pause of the garbage collector or a slow disk is no death

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Heard:
    """The last beat of another process, and how many looks ago it was new."""

    beat: float
    looks: int


_NEVER = _Heard(-1.0, 0)


class Presence:
    """The heartbeat of one process."""

    def __init__(
        self, id: str, executors: Executors, threads: StoreThreads, durable: Durable
    ) -> None:
        self._id = id
        self._executors = executors
        self._threads = threads
        self._durable = durable
        self._heard: dict[str, _Heard] = {}

    async def keep(self) -> None:
        """Beat, and look after the dead, until cancelled."""
        await repeat({"heartbeat": self.look}, BEAT_SECONDS)

    async def look(self) -> None:
        """Beat once and take over from whoever is gone."""
        await self._threads.run(self._executors.beat, self._id)
        gone = self._silent(await self._threads.run(self._executors.beats))
        if not gone:
            return
        log.warning("taking over", executors=gone)
        await self._durable.take_over(gone)
        for id in gone:
            await self._threads.run(self._executors.forget, id)

    def _silent(self, beats: Mapping[str, float]) -> list[str]:
        """Note another look; name those that left, or did not beat between so many looks."""
        looks = {
            id: self._heard[id].looks + 1 if self._heard.get(id, _NEVER).beat == beat else 0
            for id, beat in beats.items()
            if id != self._id
        }
        self._heard = {id: _Heard(beats[id], count) for id, count in looks.items()}
        return [id for id, one in self._heard.items() if one.beat == LEFT or one.looks >= MISSED]

    async def leave(self) -> None:
        """Have the others take over at once what this process leaves."""
        await self._threads.run(self._executors.leave, self._id)
