"""Runs over stored diagnoses: killed and resumed, in processes and on a Dask cluster."""

import os
import signal
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace

import pytest

from app.model import Job
from app.rulebook.load import content_hash
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Request, Upload
from app.store.ids import new_id
from app.store.kept import KeptLogs
from app.store.migrate import migrate
from app.store.reclassifications import Reclassifications
from app.store.run import Chosen
from app.store.uploads import Uploads
from app.work import reclassify
from app.work.reclassify import Engine
from app.work.surroundings import Surroundings
from app.work.worker import Order, PipelineReader
from tests.small_rules import write_rules

COUNT = 25


@pytest.fixture
def where(tmp_path):
    """A database of diagnoses whose rules have changed since."""
    rules = write_rules(tmp_path / "rules")
    found = Surroundings(
        database=f"sqlite:///{tmp_path / 'f.db'}", rules=rules, cache=tmp_path / "cache",
        learned=tmp_path / "learned", edition="1",
        uploads=tmp_path / "uploads", roots=(), max_log_bytes=1 << 20, digest_tokens=1000,
    )  # fmt: skip
    engine = connect(found.database)
    migrate(engine)
    reader = PipelineReader(rules, found.learned, found.cache)
    KeptLogs(engine).know(reader.rules.fingerprint, reader.rules.patterns)
    sha = Uploads(found.uploads).put(b"pump 3 leaks\n")
    diagnoses = Diagnoses(engine)
    for _ in range(COUNT):
        request = Request(new_id(), Job(), (Upload(sha),))
        diagnoses.add(request)
        path = str(Uploads(found.uploads).path(sha))
        order = Order(request.id, Job(), (path,), 1 << 20, 1000)
        diagnoses.finish(request.id, reader.read(order, lambda _: None))
    cause = rules / "causes" / "plant" / "PumpFault.yaml"
    cause.write_text(cause.read_text().replace("cordon_and_restart", "fix_config"))
    return replace(found, edition=content_hash(rules, found.learned))


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(reclassify, "CHUNK", 4)


def begun(runs, where, *, applies: bool = False):
    return runs.begin(Chosen(), applies=applies, rules=where.edition)


def went(where, pool: Executor, *, applies: bool = False):
    runs = Reclassifications(connect(where.database))
    run = begun(runs, where, applies=applies)
    return runs, reclassify.run_through(runs, run, where, pool, at_once=2)


def test_two_processes_judge_all_of_them_once(where):
    with reclassify.executor(Engine(2)) as pool:
        runs, run = went(where, pool, applies=True)
    assert (run.status, run.done, run.from_kept) == ("complete", COUNT, COUNT)
    changes = runs.changes(run.id, None, 1000)
    assert len({change.subject for change in changes}) == COUNT
    present = Diagnoses(connect(where.database)).page()
    assert {entry.action for entry in present} == {"fix_config"}


def test_a_dask_cluster_comes_to_the_same(where):
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        reclassify.executor(Engine(2, cluster.scheduler_address)) as pool,
    ):
        _, run = went(where, pool)
    assert (run.status, run.done) == ("complete", COUNT)


class _Dying(ThreadPoolExecutor):
    """Executors whose process dies, as it were, after some chunks."""

    def __init__(self, chunks: int) -> None:
        super().__init__(1)
        self._left = chunks

    def submit(self, call, /, *args, **more) -> Future:
        if self._left == 0:
            raise KeyboardInterrupt
        self._left -= 1
        return super().submit(call, *args, **more)


def test_a_run_that_was_broken_off_goes_on_where_it_was(where):
    runs = Reclassifications(connect(where.database))
    run = begun(runs, where, applies=True)
    with _Dying(4) as pool, pytest.raises(KeyboardInterrupt):
        reclassify.run_through(runs, run, where, pool, at_once=2)
    halfway = runs.find(run.id)
    assert 0 < halfway.done < COUNT
    with ThreadPoolExecutor(1) as pool:
        ended = reclassify.run_through(runs, halfway, where, pool, at_once=2)
    assert (ended.status, ended.done) == ("complete", COUNT)
    assert len(runs.changes(run.id, None, 1000)) == COUNT


def test_two_drivers_of_one_run_count_nothing_twice(where):
    runs = Reclassifications(connect(where.database))
    run = begun(runs, where, applies=True)
    with ThreadPoolExecutor(2) as drivers, ThreadPoolExecutor(2) as pool:
        both = [
            drivers.submit(reclassify.run_through, runs, run, where, pool, at_once=2)
            for _ in range(2)
        ]
        assert [each.exception() for each in both] == [None, None]
    ended = runs.find(run.id)
    assert (ended.done, len(runs.changes(run.id, None, 1000))) == (COUNT, COUNT)


def test_a_worker_that_is_killed_fails_the_run_and_no_verdict(where):
    with reclassify.executor(Engine(1)) as pool:
        runs = Reclassifications(connect(where.database))
        run = begun(runs, where)
        pool.submit(os.getpid).result()
        (pid,) = pool._processes
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.2)
        with pytest.raises(Exception, match="terminated abruptly|not usable"):
            reclassify.run_through(runs, run, where, pool, at_once=1)
    assert runs.find(run.id).done == 0


class _Forgetful(ThreadPoolExecutor):
    """A scheduler that begins anew and knows nothing of what it was given."""

    def submit(self, call, /, *args, **more) -> Future:
        given: Future = Future()
        given.cancel()
        given.set_running_or_notify_cancel()
        return given


def test_chunks_that_a_scheduler_forgot_are_lost_and_no_sign_to_stop(where):
    runs = Reclassifications(connect(where.database))
    run = begun(runs, where)
    with _Forgetful(1) as pool, pytest.raises(reclassify.WorkersLost, match="began anew"):
        reclassify.run_through(runs, run, where, pool, at_once=2)
    assert (runs.find(run.id).status, runs.find(run.id).done) == ("running", 0)


def test_what_came_in_after_the_start_is_left_alone(where):
    runs = Reclassifications(connect(where.database))
    run = runs.begin(Chosen(until=time.time() - 3600), applies=False, rules=where.edition)
    assert (run.total, runs.ids(run, None, 10)) == (0, [])
