"""When to try a failed call again, and how long to wait before that."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.errors import ModelFault

_TRIES = 3
_FIRST_PAUSE = 0.5  # seconds; each further one is four times as long
_AGAIN: frozenset[ModelFault] = frozenset(
    {"unreachable", "timeout", "rate_limited", "broken", "cut", "empty"}
)


@dataclass(frozen=True, slots=True)
class Timing:
    """Where time comes from: the date, a clock that only goes on, sleep, and chance in 0..1."""

    now: Callable[[], float] = time.time
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


def pause_before(
    tries: int, fault: ModelFault, retry_after: float | None, left_seconds: float, chance: float
) -> float | None:
    """Say how long to wait after so many failed tries; None is not to try again.

    An endpoint that names a time is obeyed. A wait that would outlast the question is not begun.
    """
    if fault not in _AGAIN or tries >= _TRIES:
        return None
    pause = _FIRST_PAUSE * 4 ** (tries - 1) * (0.75 + chance / 2)
    if retry_after is not None:
        pause = max(retry_after, 0.0)
    return pause if pause < left_seconds else None
