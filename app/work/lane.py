"""One worker process, and what to do when it dies.

Each lane has a process of its own, so a log that kills its reader hurts no other diagnosis. The
process is replaced when it dies, when its log takes too long, and when its lane closes.
"""

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from ctypes import c_double
from pathlib import Path

import structlog

from app.errors import FirstFaultError, UsageError
from app.store.outcome import Fault
from app.work import worker
from app.work.object_names import SCHEME

_TRIES = 2
_PATIENCE = (1.0, 5.0, 15.0)  # between tries to start a worker

log = structlog.get_logger()


class Lane:
    """A seat for one diagnosis at a time.

    `deaths` counts the processes that had to be replaced, `fault` says why none can be started.
    """

    def __init__(self, prepare: worker.Prepare, rules: Path, learned: Path, cache: Path) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._progress = self._context.RawValue(c_double, 0.0)
        self._setup = (prepare, (rules, learned, cache), self._progress)
        self._is_reading = self._is_stale = False
        self.deaths = 0
        self.fault: str | None = None
        self._open()

    @property
    def progress(self) -> float:
        """How much of the present log is read, from 0 to 1."""
        return min(max(float(self._progress.value), 0.0), 1.0)

    def loaded_rules(self) -> worker.Rules:
        """Wait for the worker to be ready; give its rules or raise their faults."""
        try:
            said = self._ready.result()
        except BrokenProcessPool as error:
            raise FirstFaultError("a worker process died while it started") from error
        if isinstance(said, Fault):
            raise UsageError(said.detail)
        return said

    def renew(self) -> None:
        """Have the next log read under the rules of now; one that is being read goes on."""
        self._is_stale = True
        if not self._is_reading:
            self._refresh()

    async def read(self, order: worker.Order, seconds: float) -> worker.Reading:
        """Have a log read; a log whose reader is killed is given a second one, and no third."""
        self._is_reading = True
        try:
            return await self._read(order, seconds)
        finally:
            self._is_reading = False
            self._refresh()

    async def _read(self, order: worker.Order, seconds: float) -> worker.Reading:
        killed = 0
        while killed < _TRIES:
            await self._until_ready()
            self._progress.value = 0.0
            try:
                future = self._executor.submit(worker.read, order)
            except BrokenProcessPool:  # it died idle, which is not this log's doing
                self._replace()
                continue
            try:
                return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
            except BrokenProcessPool:
                log.warning("worker killed", diagnosis_id=order.id)
                killed += 1
                self._replace()
            except TimeoutError:
                self._replace()
                detail = f"{_named(order)} was not read within {seconds:g} seconds"
                return worker.Reading(Fault("TookTooLong", 500, detail))
        detail = (
            f"the process that read the log was killed {_TRIES} times; "
            "the system log may say by whom (often: out of memory)"
        )
        return worker.Reading(Fault("WorkerKilled", 500, detail))

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._is_stale = False
        self._kill()
        self._executor.shutdown(wait=True, cancel_futures=True)

    async def _until_ready(self) -> None:
        """Wait for a worker that can work; no log is blamed for one that cannot even start."""
        tries = 0
        while True:
            try:
                said = await asyncio.wrap_future(self._ready)
                self.fault = said.detail if isinstance(said, Fault) else None
            except BrokenProcessPool:
                self.fault = "a worker process dies while it starts; the log of the service tells"
            if self.fault is None:
                return
            pause = _PATIENCE[min(tries, len(_PATIENCE) - 1)]
            log.error("worker cannot start", detail=self.fault, retry_seconds=pause)
            await asyncio.sleep(pause)
            tries += 1
            self._replace()

    def _refresh(self) -> None:
        """Start a process that loads the rules of now, in the place of an idle one."""
        if self._is_stale:
            self._open_anew()

    def _replace(self) -> None:
        self.deaths += 1
        self._open_anew()

    def _open_anew(self) -> None:
        self._kill()
        # Not waited for: a process that hangs in a dead file system cannot even be killed.
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._open()

    def _kill(self) -> None:
        for child in self._children:
            if child.is_alive():
                child.kill()

    def _open(self) -> None:
        self._is_stale = False
        before = set(multiprocessing.active_children())
        self._executor = ProcessPoolExecutor(
            1, mp_context=self._context, initializer=worker.start, initargs=self._setup
        )
        self._ready = self._executor.submit(worker.hello)  # starts the process
        self._children = set(multiprocessing.active_children()) - before


def _named(order: worker.Order) -> str:
    """Name a log by its object; the paths of others are not everybody's business."""
    objects = [place for place in order.paths if place.startswith(SCHEME)]
    return objects[0] if objects else "the log"
