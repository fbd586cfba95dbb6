"""Wait until a log is no longer written.

A scheduler reports the exit of a job while nodes still flush what its ranks printed last, and that
is where the cause stands. A log has settled when neither sizes nor times of its files changed for
a while; a file that is not there yet counts as a change to come.
"""

import asyncio
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.errors import SourceError
from app.work.object_names import ObjectName
from app.work.objects import ObjectStore, looks
from app.work.roots import Location

_MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Glance:
    """How a log looks: a hash that changes with any file of it, and seconds since the last write.

    What is missing counts as written just now.
    """

    state: str
    age: float
    is_whole: bool


def glance(places: Sequence[Location], store: ObjectStore | None = None) -> Glance:
    """Look at a log; blocks."""
    seen = [_of_path(p) if isinstance(p, Path) else _of_objects(p, store) for p in places]
    if len(seen) == 1:
        return seen[0]
    told = "\n".join(each.state for each in seen)
    return Glance(
        hashlib.sha256(told.encode()).hexdigest(),
        min((each.age for each in seen), default=0.0),
        all(each.is_whole for each in seen),
    )


async def settled(
    places: Sequence[Location],
    quiet_seconds: float,
    most_seconds: float,
    store: ObjectStore | None = None,
) -> str:
    """Wait until the log was quiet for so long, or that long at most; give how it looks then.

    Where the clock of the file system can be believed, a log that was quiet before counts as such
    at once.
    """
    began = changed = time.monotonic()
    last = await asyncio.to_thread(glance, places, store)
    if last.age >= quiet_seconds:
        return last.state
    while True:
        now = time.monotonic()
        left = min(changed + quiet_seconds, began + most_seconds) - now
        if left <= 0:
            return last.state
        await asyncio.sleep(min(left, max(quiet_seconds / 4, _pause(places))))
        seen = await asyncio.to_thread(glance, places, store)
        if seen.state != last.state or not seen.is_whole:
            last, changed = seen, time.monotonic()


def _pause(places: Sequence[Location]) -> float:
    """Look at files as often as one likes; each look at objects is paid for."""
    return 0.05 if all(isinstance(place, Path) for place in places) else 1.0


def _of_path(path: Path) -> Glance:
    try:
        files = _below(path) if path.is_dir() else [path]
        is_there = path.exists()
    except OSError:  # a name that is too long, a folder that may not be read
        return Glance(_MISSING, 0.0, False)
    told = "\n".join(map(_state, files))
    state = hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()
    return Glance(state, _age(files), is_there)


def _age(files: Sequence[Path]) -> float:
    try:
        return time.time() - max((file.stat().st_mtime for file in files), default=time.time())
    except OSError:
        return 0.0


def _of_objects(name: ObjectName, store: ObjectStore | None) -> Glance:
    if store is None:
        return Glance(_MISSING, 0.0, False)
    try:
        found = store.objects(name)
    except SourceError:  # missing, or the store is gone for now: either may change
        return Glance(_MISSING, 0.0, False)
    return Glance(looks(found), time.time() - max(each.written_at for each in found), True)


def _below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _state(file: Path) -> str:
    try:
        told = file.stat()
    except OSError:
        return f"{file} {_MISSING}"
    return f"{file} {told.st_size} {told.st_mtime_ns}"
