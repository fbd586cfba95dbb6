"""Call the store from an event loop: its calls block, so each runs in one of a few threads."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

import structlog

from app.errors import StoreError

_THREADS = 4
_PATIENCE = (0.1, 0.5, 2.0, 5.0, 15.0)  # between tries to reach a database that is gone

_P = ParamSpec("_P")
_R = TypeVar("_R")

log = structlog.get_logger()


class StoreThreads:
    """Threads of their own, so that slow uploads never stand before a query."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="store")

    async def run(self, call: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Make a call and give what it gives."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(call, *args, **kwargs))

    async def insist(self, call: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Make a call that must succeed, again and again for as long as the store is gone."""
        tries = 0
        while True:
            try:
                return await self.run(call, *args, **kwargs)
            except StoreError as error:
                pause = _PATIENCE[min(tries, len(_PATIENCE) - 1)]
                log.error("store gone", detail=str(error), retry_seconds=pause)
                await asyncio.sleep(pause)
                tries += 1

    def close(self) -> None:
        """Finish the calls that run."""
        self._pool.shutdown()
