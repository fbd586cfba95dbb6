"""Run through stored diagnoses or logs in chunks, several at once, and write each down in order.

The seam is `concurrent.futures.Executor`: threads here, each of which has a process judge, or a
Dask cluster, whose workers do so too. The database knows how far a run has come; a chunk that was
under way when its process died is judged again, which changes nothing. A chunk ends after so many
logs, bytes or seconds, so that little is lost; where a model is asked, chunks are small, since
their questions would be paid for again.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

import structlog

from app.errors import StoreError, UsageError
from app.store.outcome import Fault
from app.store.reclassifications import Reclassifications
from app.store.run import Chunk, Run
from app.work.bench import STOPPED_SECONDS, Bench, WorkersLost
from app.work.folder import jobs_in
from app.work.judged import chunk_of, set_aside
from app.work.surroundings import Part, Surroundings

CHUNK = 200  # of one chunk; some seconds of work, and what a kill costs at most
CHUNK_ASKED = 20  # where a model is asked
CHUNK_BYTES = 256 << 20  # read, after which a chunk ends with the log that is under way
CHUNK_SECONDS = 20.0
_PATIENCE = (0.5, 5.0, 15.0)  # seconds, after processes died that got nowhere
_GLANCE_SECONDS = 0.5
_STILL_SECONDS = 60.0  # after which another driver of a run is taken for dead

log = structlog.get_logger()

Progress = Callable[[Run], None]
Judged = Chunk | Fault | None
_ERRORS = {"StoreError": StoreError, "WorkersLost": WorkersLost}


@dataclass(frozen=True, slots=True)
class Engine:
    """So many processes on this machine, or a Dask cluster by the address of its scheduler."""

    processes: int
    dask_scheduler: str | None = None


@dataclass(frozen=True, slots=True)
class _Ahead:
    """A part that is being judged, and how far the run must have come before it is written."""

    before: str | None
    part: Part
    future: Future[Judged]


@contextmanager
def executor(engine: Engine) -> Iterator[Executor]:
    """Open it; raise UsageError where that cannot be done. What is under way at the end is lost."""
    if engine.dask_scheduler is None:
        bench = Bench()
        pool = ThreadPoolExecutor(engine.processes, initializer=_sit, initargs=(bench,))
        try:
            yield pool
        finally:
            bench.close()
            pool.shutdown(cancel_futures=True)
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

    Returns within seconds where the run is cancelled meanwhile, and after the chunk where somebody
    else goes on with it.
    """
    stop = stop or threading.Event()
    waiting: deque[_Ahead] = deque()
    reached, parts = run.last, iter(_parts(runs, run, where))
    while True:
        fresh = list(islice(parts, max(at_once - len(waiting), 0)))
        waiting.extend(_submitted(pool, fresh, reached, where))
        reached = fresh[-1].subjects[-1] if fresh else reached
        if not waiting:
            runs.end(run.id, "complete")
            return runs.find(run.id)
        ahead = waiting.popleft()
        if not _is_judged(ahead, runs, run, stop):
            return run if stop.is_set() else runs.find(run.id)
        left, before = _halves(ahead), ahead.before
        if not left:
            chunk = _result(ahead)
            if chunk is None or not runs.take(run.id, before, chunk):
                return runs.find(run.id)
            progress(runs.find(run.id))
            left, before = _behind(ahead.part, chunk.last), chunk.last
        waiting.extendleft(reversed(_submitted(pool, left, before, where)))


def _is_judged(ahead: _Ahead, runs: Reclassifications, run: Run, stop: threading.Event) -> bool:
    """Wait for it; False where the run is to stop before."""
    look = time.monotonic() + STOPPED_SECONDS
    while not wait([ahead.future], _GLANCE_SECONDS).done:
        if stop.is_set():
            return False
        if time.monotonic() >= look:
            if not runs.is_running(run.id):
                return False
            look = time.monotonic() + STOPPED_SECONDS
    return True


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
                run.id,
                tuple(names),
                places=tuple(places[name] for name in names),
                within_roots=run.chosen.within_roots or run.driver == "service",
                enough_bytes=CHUNK_BYTES,
                enough_seconds=CHUNK_SECONDS,
            )
        return
    last = run.last
    while ids := runs.ids(run, last, size):
        yield Part(
            run.id,
            tuple(ids),
            run.applies,
            enough_bytes=CHUNK_BYTES,
            enough_seconds=CHUNK_SECONDS,
        )
        last = ids[-1]


def _submitted(
    pool: Executor, parts: Sequence[Part], before: str | None, where: Surroundings
) -> list[_Ahead]:
    """Have parts judged that follow each other, and what the run has come to `before` them."""
    given = []
    for part in parts:
        try:
            given.append(_Ahead(before, part, pool.submit(_judge, part, where)))
        except BrokenExecutor as error:
            raise WorkersLost(str(error)) from error
        before = part.subjects[-1]
    return given


def _behind(part: Part, last: str) -> list[Part]:
    """Give what is left of a part of which a chunk was made up to `last`."""
    at = part.subjects.index(last) + 1
    return [part.between(at)] if at < len(part.subjects) else []


def _halves(ahead: _Ahead) -> list[Part]:
    """Split a part that killed whatever judged it, so that the log is found that did."""
    many = len(ahead.part.subjects)
    if many == 1 or not _has_killed(ahead.future):
        return []
    return [ahead.part.between(0, many // 2), ahead.part.between(many // 2)]


def _has_killed(future: Future[Judged]) -> bool:
    """Say whether a cluster gave a part up since workers died on it, one after the other."""
    return not future.cancelled() and type(future.exception()).__name__ == "KilledWorker"


def _result(ahead: _Ahead) -> Chunk | None:
    """Give what a part came to; None where the run was stopped. Raises what ends the run."""
    try:
        fault = ahead.future.exception()
    except CancelledError as error:  # a scheduler that went away takes its chunks with it
        raise WorkersLost("a chunk was given up: the scheduler went away or began anew") from error
    if _has_killed(ahead.future):
        why = f"the workers that judged it died, one after the other: {fault}"
        return chunk_of(ahead.part.applies, [set_aside(ahead.part.subjects[0], why)])
    if fault is not None:
        told = f"{type(fault).__name__}: {fault}"
        raise WorkersLost(f"a worker died while it judged, or its code failed: {told}") from fault
    found = ahead.future.result()
    if not isinstance(found, Fault):
        return found
    raise _ERRORS.get(found.kind, UsageError)(found.detail)


_own = threading.local()
_shared = Bench()  # of a worker of a Dask cluster, whose threads nobody has set up


def _sit(bench: Bench) -> None:
    """Have a thread of ours judge with these processes, which end with the run."""
    _own.bench = bench


def _judge(part: Part, where: Surroundings) -> Judged:
    bench: Bench = getattr(_own, "bench", _shared)
    return bench.judge(part, where)
