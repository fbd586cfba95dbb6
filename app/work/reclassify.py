"""Run through stored diagnoses in chunks, several at once, and write each chunk down in order.

The seam is `concurrent.futures.Executor`: a pool of processes here, a Dask cluster elsewhere. The
database knows how far a run has come; a chunk that was under way when its process died is judged
again, which changes nothing.
"""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager

from app.errors import UsageError
from app.store.reclassifications import Chunk, Reclassifications, Run
from app.work.rejudge import Surroundings, rejudge, set_up

CHUNK = 200  # diagnoses; some seconds of work, and what a kill costs at most


@contextmanager
def executor(processes: int, dask_scheduler: str | None) -> Iterator[Executor]:
    """Open processes on this machine, or a Dask cluster by the address of its scheduler."""
    if dask_scheduler is None:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, mp_context=context, initializer=set_up) as pool:
            yield pool
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError("FIRSTFAULT_DASK_SCHEDULER needs the extra: firstfault[dask]") from error
    try:
        client = Client(dask_scheduler, timeout=10)  # type: ignore[no-untyped-call]  # no types
    except (OSError, ValueError) as error:
        raise UsageError(f"the Dask scheduler {dask_scheduler} cannot be reached") from error
    with client:
        yield client.get_executor(retries=2)  # type: ignore[no-untyped-call]  # no types


def run_through(
    runs: Reclassifications,
    run: Run,
    where: Surroundings,
    pool: Executor,
    *,
    at_once: int,
    progress: Callable[[Run], None] | None = None,
) -> Run:
    """Go on with a run until it has ended; give what it has come to.

    `at_once` chunks are under way. A run that is cancelled meanwhile stops after the chunk.
    """
    waiting: deque[tuple[str | None, Future[Chunk]]] = deque()
    reached, ids = run.last_id, iter(_chunks(runs, run))
    while True:
        while len(waiting) < at_once and (chunk := next(ids, None)):
            waiting.append((reached, pool.submit(rejudge, chunk, where)))
            reached = chunk[-1]
        if not waiting:
            runs.end(run.id, "complete")
            return runs.find(run.id)
        before, judged = waiting.popleft()
        if not runs.take(run.id, before, judged.result()):
            for _, future in waiting:
                future.cancel()
            return runs.find(run.id)
        if progress:
            progress(runs.find(run.id))


def _chunks(runs: Reclassifications, run: Run) -> Iterator[list[str]]:
    last = run.last_id
    while ids := runs.ids(run, last, CHUNK):
        yield ids
        last = ids[-1]
