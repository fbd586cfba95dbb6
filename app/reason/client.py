"""Ask a chat model, within a time, a budget and a number of calls at once.

The calls of this module block, since whoever reasons does so in a worker process that has nothing
else to do. Underneath, one thread runs an event loop: only there can a request be broken off at
any point, be it a name that is not resolved or a server that sends a byte a minute, and several
answers be had at once. The thread and the connection are made at the first question.
"""

import asyncio
import concurrent.futures
import contextlib
import math
import threading
from collections.abc import Coroutine
from typing import TypeVar

from app.errors import ModelError
from app.masking import Masks
from app.reason.budget import Budget
from app.reason.call import Recorder
from app.reason.desk import Desk, Endpoint
from app.reason.exchange import Answer, Exchange
from app.reason.question import F, Question
from app.reason.retry import Timing

_T = TypeVar("_T")
_GRACE_SECONDS = 2.0  # for a request that is broken off to say so


class Client:
    """One endpoint; it may be asked from several threads, and remembers how it likes that."""

    def __init__(
        self,
        endpoint: Endpoint,
        record: Recorder,
        timing: Timing = Timing(),  # noqa: B008  # a frozen value
    ) -> None:
        """Nothing is opened before the first question; each call is given to `record`."""
        self.endpoint = endpoint
        self._desk = Desk(endpoint, record, timing)
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def ask(self, question: Question[F], budget: Budget, seconds: float | None = None) -> Answer[F]:
        """Get one answer that fits its form, in less time than usual if so; raise ModelError."""
        return self._ask(question, budget, 1, None, seconds)[0]

    def ask_several(
        self, question: Question[F], budget: Budget, count: int, temperature: float | None = None
    ) -> tuple[Answer[F], ...]:
        """Get so many answers, or those of them that fit, at least one; raise ModelError."""
        return self._ask(question, budget, count, temperature)

    def masks(self) -> Masks:
        """Give masks for what the endpoint may be shown of one log."""
        return Masks(addresses=self.endpoint.hides_addresses)

    def close(self) -> None:
        """Break off what is under way and close the connection."""
        with self._starting:
            loop, self._loop = self._loop, None
        if loop is None:
            return
        ended = asyncio.run_coroutine_threadsafe(self._end(), loop)
        with contextlib.suppress(concurrent.futures.TimeoutError):
            ended.result(_GRACE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)

    async def _end(self) -> None:
        under_way = asyncio.all_tasks() - {asyncio.current_task()}
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await self._desk.close()

    def _ask(
        self,
        question: Question[F],
        budget: Budget,
        count: int,
        temperature: float | None,
        seconds: float | None = None,
    ) -> tuple[Answer[F], ...]:
        within = min(seconds or math.inf, self.endpoint.seconds)
        exchange = Exchange(self._desk, question, budget, temperature, within)
        calls = budget.calls

        async def held() -> tuple[Answer[F], ...]:
            try:
                async with asyncio.timeout(within):
                    return await exchange.answers(count)
            except TimeoutError as error:
                raise self._late(within, busy=budget.calls == calls) from error

        return self._done(held(), within)

    def _late(self, within: float, *, busy: bool) -> ModelError:
        seconds = f"within {within:.3g} seconds (FIRSTFAULT_MODEL_SECONDS)"
        if busy:
            told = f"no free place {seconds}; {self.endpoint.parallel} calls may run at once"
            return ModelError("busy", f"{told} (FIRSTFAULT_MODEL_PARALLEL)")
        place = f"{self.endpoint.model} at {self.endpoint.place}"
        return ModelError("timeout", f"{place}: no whole answer {seconds}")

    def _done(self, work: Coroutine[None, None, _T], within: float) -> _T:
        """Run on the loop's thread and wait; not for longer than the deadline in any case."""
        future = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return future.result(within + _GRACE_SECONDS)
        except concurrent.futures.TimeoutError as error:
            future.cancel()
            raise self._late(within, busy=False) from error

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                name = f"model {self.endpoint.model}"
                threading.Thread(
                    target=self._run, args=(self._loop,), name=name, daemon=True
                ).start()
            return self._loop

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        finally:
            loop.close()
