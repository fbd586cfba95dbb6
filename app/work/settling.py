"""Wait until a log is no longer written.

A scheduler reports the exit of a job while nodes still flush what its ranks printed last, and that
is where the cause stands. A log has settled when neither sizes nor times of its files changed for
a while; a file that is not there yet counts as a change to come.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

Look = Callable[[Sequence[Path]], str]
_MISSING = "missing"


def look(paths: Sequence[Path]) -> str:
    """Give a hash that changes with any file of a log; blocks."""
    files = [file for path in paths for file in (_below(path) if path.is_dir() else [path])]
    told = "\n".join(_state(file) for file in files)
    return hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()


def age(paths: Sequence[Path]) -> float:
    """Seconds since a file of the log was last written; 0 where one is missing; blocks."""
    files = [file for path in paths for file in (_below(path) if path.is_dir() else [path])]
    try:
        return time.time() - max((file.stat().st_mtime for file in files), default=time.time())
    except OSError:
        return 0.0


def _below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _state(file: Path) -> str:
    try:
        told = file.stat()
    except OSError:
        return f"{file} {_MISSING}"
    return f"{file} {told.st_size} {told.st_mtime_ns}"


async def settled(paths: Sequence[Path], quiet_seconds: float, most_seconds: float) -> str:
    """Wait until the log was quiet for so long, or that long at most; give how it looks then.

    Where the clock of the file system can be believed, a log that was quiet before counts as such
    at once.
    """
    began = changed = time.monotonic()
    state = await asyncio.to_thread(look, paths)
    if await asyncio.to_thread(age, paths) >= quiet_seconds:
        return state
    while True:
        now = time.monotonic()
        left = min(changed + quiet_seconds, began + most_seconds) - now
        if left <= 0:
            return state
        await asyncio.sleep(min(left, max(quiet_seconds / 4, 0.05)))
        seen = await asyncio.to_thread(look, paths)
        if seen != state or await asyncio.to_thread(_is_missing, paths):
            state, changed = seen, time.monotonic()


def _is_missing(paths: Sequence[Path]) -> bool:
    return not all(path.exists() for path in paths)
