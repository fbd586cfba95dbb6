"""What one process knows of the diagnoses that it makes: how far each is, and what came of all."""

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass, field

from app.work.lane import Lane


@dataclass(frozen=True, slots=True)
class State:
    """How far a diagnosis is."""

    status: str
    progress: float


@dataclass(slots=True)
class Tally:
    """What this process has done since its start."""

    complete: Counter[str] = field(default_factory=Counter)  # by cause
    failed: Counter[str] = field(default_factory=Counter)  # by kind of fault
    methods: Counter[tuple[str, str]] = field(default_factory=Counter)  # by method, is it known
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(slots=True, eq=False)
class Live:
    """A diagnosis that this process makes; `changed` is set, and replaced, with its status."""

    lane: Lane | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def state(self) -> State:
        """How far it is."""
        return State("running", self.lane.progress) if self.lane else State("queued", 0.0)

    def run(self, lane: Lane) -> None:
        """Note that a lane has begun to read its log."""
        self.lane = lane
        self.changed.set()
        self.changed = asyncio.Event()

    async def change(self, seconds: float) -> None:
        """Wait for the next change, but no longer than that."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.changed.wait(), seconds)
