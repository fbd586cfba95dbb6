"""Run through stored diagnoses or logs in chunks, several at once, and write each down in order.

The seam is `concurrent.futures.Executor`: a pool of processes here, a Dask cluster elsewhere. The
database knows how far a run has come; a chunk that was under way when its process died is judged
again, which changes nothing. Where a model is asked, chunks are small, since their questions would
be paid for again.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection

import structlog

from app.errors import FirstFaultError, StoreError, UsageError
from app.store.outcome import Fault
from app.store.reclassifications import Reclassifications
from app.store.run import Chunk, Run
from app.work.folder import jobs_in
from app.work.surroundings import Part, Surroundings

CHUNK = 200  # of one chunk; some seconds of work, and what a kill costs at most
CHUNK_ASKED = 20  # where a model is asked
_PATIENCE = (0.5, 5.0, 15.0)  # seconds, after processes died that got nowhere
_GLANCE_SECONDS = 0.5
_NICENESS = 10  # whoever waits for an answer goes first
_STILL_SECONDS = 60.0  # after which another driver of a run is taken for dead

log = structlog.get_logger()

Progress = Callable[[Run], None]


class WorkersLost(FirstFaultError):
    """Processes died while they judged."""


@dataclass(frozen=True, slots=True)
class Engine:
    """So many processes on this machine, or a Dask cluster by the address of its scheduler."""

    processes: int
    dask_scheduler: str | None = None


@contextmanager
def executor(engine: Engine) -> Iterator[Executor]:
    """Open it; raise UsageError where that cannot be done. What is under way at the end is lost."""
    if engine.dask_scheduler is None:
        context = multiprocessing.get_context("spawn")
        theirs, ours = context.Pipe(duplex=False)
        with (
            theirs,
            ProcessPoolExecutor(
                engine.processes, mp_context=context, initializer=_prepare, initargs=(theirs,)
            ) as pool,
            ours,
        ):
            yield pool
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError("FIRSTFAULT_DASK_SCHEDULER needs the extra: firstfault[dask]") from error
    try:
        client = Client(engine.dask_scheduler, timeout=10)  # type: ignore[no-untyped-call]  # no types
    except (OSError, ValueError) as error:
        told = f"the Dask scheduler {engine.dask_scheduler} cannot be reached"
        raise UsageError(told) from error
    with client:
        yield client.get_executor(retries=2)  # type: ignore[no-untyped-call]  # no types


def go_on(
    runs: Reclassifications,
    run: Run,
    where: Surroundings,
    engine: Engine,
    progress: Progress = lambda _: None,
    stop: threading.Event | None = None,
) -> Run:
    """Go on with a run until it has ended or is told to `stop`; give what it has come to.

    Processes that die are replaced, as long as something comes of it. Raises UsageError where the
    run cannot go on under these rules, prompts or logs, StoreError, and WorkersLost.
    """
    if run.rules != where.edition:
        raise UsageError("the rules have changed since the run began; begin another")
    stop = stop or threading.Event()
    stalled = 0
    while run.status == "running" and not stop.is_set():
        came = run.done
        try:
            with executor(engine) as pool:
                run = run_through(
                    runs, run, where, pool, engine.processes, progress=progress, stop=stop
                )
        except WorkersLost as error:
            run = runs.find(run.id)
            stalled = 0 if run.done > came else stalled + 1
            if stalled > len(_PATIENCE):
                raise
            log.warning("processes died", reclassification_id=run.id, detail=str(error))
            stop.wait(_PATIENCE[max(stalled - 1, 0)])
        else:
            run = _until_still(runs, run, progress, stop)
    return run


def run_through(
    runs: Reclassifications,
    run: Run,
    where: Surroundings,
    pool: Executor,
    at_once: int,
    *,
    progress: Progress = lambda _: None,
    stop: threading.Event | None = None,
) -> Run:
    """Judge what is left of a run, `at_once` chunks at a time; give what it has come to.

    Stops after the chunk where the run is cancelled meanwhile, or somebody else goes on with it.
    """
    stop = stop or threading.Event()
    waiting: deque[tuple[str | None, Future[Chunk | Fault]]] = deque()
    reached, parts = run.last, iter(_parts(runs, run, where))
    while True:
        for part in islice(parts, at_once - len(waiting)):
            waiting.append((reached, _submitted(pool, part, where)))
            reached = part.subjects[-1]
        if not waiting:
            runs.end(run.id, "complete")
            return runs.find(run.id)
        before, judged = waiting.popleft()
        while not wait([judged], _GLANCE_SECONDS).done:
            if stop.is_set():
                return run
        if not runs.take(run.id, before, _result(judged)):
            for _, future in waiting:
                future.cancel()
            return runs.find(run.id)
        progress(runs.find(run.id))


def _until_still(
    runs: Reclassifications, run: Run, progress: Progress, stop: threading.Event
) -> Run:
    """Wait while another process goes on with the run."""
    since = time.monotonic()
    while run.status == "running" and time.monotonic() < since + _STILL_SECONDS:
        if stop.wait(_GLANCE_SECONDS):
            return run
        now = runs.find(run.id)
        if now != run:
            run, since = now, time.monotonic()
            progress(run)
    return run


def _parts(runs: Reclassifications, run: Run, where: Surroundings) -> Iterator[Part]:
    size = CHUNK if run.asks is None else CHUNK_ASKED
    if run.chosen.logs:
        assert where.store is not None
        places = jobs_in(run.chosen.logs, where.store)
        left = [name for name in places if run.last is None or name > run.last]
        for at in range(0, len(left), size):
            names = left[at : at + size]
            yield Part(
                tuple(names),
                places=tuple(places[name] for name in names),
                within_roots=run.chosen.within_roots or run.driver == "service",
            )
        return
    last = run.last
    while ids := runs.ids(run, last, size):
        yield Part(tuple(ids), run.applies)
        last = ids[-1]


def _submitted(pool: Executor, part: Part, where: Surroundings) -> Future[Chunk | Fault]:
    try:
        return pool.submit(_judge, part, where)
    except BrokenExecutor as error:
        raise WorkersLost(str(error)) from error


def _result(judged: Future[Chunk | Fault]) -> Chunk:
    try:
        fault = judged.exception()
    except CancelledError as error:  # a scheduler that went away takes its chunks with it
        raise WorkersLost("a chunk was given up: the scheduler went away or began anew") from error
    if fault is not None:
        told = f"{type(fault).__name__}: {fault}"
        raise WorkersLost(f"a process died while it judged, or its code failed: {told}") from fault
    found = judged.result()
    if isinstance(found, Chunk):
        return found
    raise StoreError(found.detail) if found.kind == "StoreError" else UsageError(found.detail)


def _judge(part: Part, where: Surroundings) -> Chunk | Fault:
    """Judge a part in a process; only plain values go back, since not every error survives it."""
    from app.work.rejudge import rejudge
    from app.work.worker import fault_of

    try:
        return rejudge(part, where)
    except FirstFaultError as error:
        return fault_of(error)


def _prepare(end: Connection) -> None:
    """Set up a process of ours, which ends with the run, or with the process that drives it."""
    for told in (signal.SIGINT, signal.SIGTERM):  # often sent to the whole group
        signal.signal(told, signal.SIG_IGN)
    os.nice(_NICENESS)
    threading.Thread(target=_end_with, args=(end,), daemon=True).start()


def _end_with(end: Connection) -> None:
    end.poll(None)  # nothing is ever sent: this is its closing
    os._exit(1)
