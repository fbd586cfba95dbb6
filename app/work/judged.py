"""What is said of logs while they are judged again, and what a chunk of them comes to.

Plain values, since they travel between processes and machines. Light, as `surroundings` is.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from app.store.outcome import Fault
from app.store.run import Change, Chunk, Instead
from app.work.folder import shown
from app.work.surroundings import Part

_MOST_WORDS = 500  # characters of a reason

Source = Literal["kept", "log", "unread"]


@dataclass(frozen=True, slots=True)
class Now:
    """This log is looked at now; None where it may take any time, else seconds from here."""

    subject: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Rejudged:
    """What one log came to, without the log.

    `source` says what it was judged from; `asked` where rules left a doubt, `note` why the model
    gave no answer. `change` also holds the reason where there is no verdict that can be told.
    `weight` counts the bytes that were read.
    """

    subject: str
    source: Source = "unread"
    asked: bool = False
    note: str | None = None
    change: Change | None = None
    instead: Instead | None = None
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Through:
    """A part is through, or as much of it as is enough; `fault` where it was broken off."""

    fault: Fault | None = None


Said = Now | Rejudged | Through
Tell = Callable[[Now], None]


def silent(_: Now) -> None:
    """Tell nobody."""


def set_aside(subject: str, why: str) -> Rejudged:
    """Say why a log has no verdict; what was there before stays."""
    return Rejudged(subject, change=Change(subject, why=shown(why)[:_MOST_WORDS]))


class Measure:
    """How much of a part has been done, in bytes and in time since this was made."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._bytes = 0
        self._until = time.monotonic() + part.enough_seconds

    def add(self, one: Rejudged) -> Rejudged:
        """Count one, and give it back."""
        self._bytes += one.weight
        return one

    @property
    def is_enough(self) -> bool:
        """Whether what was done makes a chunk."""
        return self._bytes >= self._part.enough_bytes or time.monotonic() >= self._until


def chunk_of(applies: bool, found: Sequence[Rejudged]) -> Chunk:
    """Add up what the logs of a part came to, of which there is at least one."""
    sources = Counter(one.source for one in found)
    notes = [one.note for one in found if one.note]
    changed = [one for one in found if one.change and one.change.cause is not None]
    return Chunk(
        last=found[-1].subject,
        from_kept=sources["kept"],
        from_logs=sources["log"],
        unread=sources["unread"],
        asked=sum(one.asked for one in found),
        unheard=len(notes),
        note=notes[-1] if notes else None,
        changes=tuple(one.change for one in changed if one.change),
        instead=tuple(one.instead for one in changed if one.instead) if applies else (),
        unjudged=tuple(one.change for one in found if one.change and one.change.cause is None),
    )
