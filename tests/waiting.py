"""Waiting for what another thread or process does, and never without an end."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

PATIENCE_SECONDS = 90.0  # ten times what the slowest of them takes on two busy cores

Found = TypeVar("Found")


def until(
    holds: Callable[[], Found], seconds: float = PATIENCE_SECONDS, what: str = "this"
) -> Found:
    """Look again and again until something holds; give what it gave."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, f"{what} did not come about within {seconds:.0f} s"
        time.sleep(0.1)
    return found


async def soon(holds: Callable[[], Awaitable[Found]]) -> Found:
    """Look again and again, as `until` does, while the event loop goes on with its work."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (found := await holds()):
            await asyncio.sleep(0.1)
        return found
