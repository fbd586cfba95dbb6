"""Runs over stored diagnoses: killed and resumed, in processes and on a Dask cluster."""

import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

from app.store import reclassifications
from app.store.database import connect
from app.store.diagnoses import Diagnoses
from app.store.reclassifications import Reclassifications
from app.store.run import Chosen
from app.store.toll import toll
from app.store.toll_csv import changes_csv
from app.work import reclassify
from app.work.reclassify import Engine
from tests.work.here import Here
from tests.work.stored_pumps import LEAK, stored

COUNT = 25


@pytest.fixture
def where(tmp_path):
    return stored(tmp_path, [LEAK] * COUNT).where


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


class _Dying(Here):
    """An executor whose process dies, as it were, after some chunks."""

    def __init__(self, chunks: int) -> None:
        super().__init__(1)
        self._left = chunks

    def submit(self, call, part, where) -> Future:
        if self._left == 0:
            raise KeyboardInterrupt
        self._left -= 1
        return super().submit(call, part, where)


def test_a_run_that_was_broken_off_goes_on_where_it_was(where):
    runs = Reclassifications(connect(where.database))
    run = begun(runs, where, applies=True)
    with _Dying(4) as pool, pytest.raises(KeyboardInterrupt):
        reclassify.run_through(runs, run, where, pool, at_once=2)
    halfway = runs.find(run.id)
    assert 0 < halfway.done < COUNT
    with Here(1) as pool:
        ended = reclassify.run_through(runs, halfway, where, pool, at_once=2)
    assert (ended.status, ended.done) == ("complete", COUNT)
    assert len(runs.changes(run.id, None, 1000)) == COUNT


def test_two_drivers_of_one_run_count_nothing_twice(where):
    runs = Reclassifications(connect(where.database))
    run = begun(runs, where, applies=True)
    with ThreadPoolExecutor(2) as drivers, Here(2) as pool:
        both = [
            drivers.submit(reclassify.run_through, runs, run, where, pool, at_once=2)
            for _ in range(2)
        ]
        assert [each.exception() for each in both] == [None, None]
    ended = runs.find(run.id)
    assert (ended.done, len(runs.changes(run.id, None, 1000))) == (COUNT, COUNT)


def test_all_changes_are_listed_and_counted_however_many_there_are(where, monkeypatch):
    monkeypatch.setattr(reclassifications, "_AT_ONCE", 4)
    with Here(1) as pool:
        runs, run = went(where, pool)
    listed = [change.subject for change in runs.every_change(run.id)]
    assert listed == sorted(set(listed))
    assert len(listed) == runs.listed(run.id).changed == COUNT
    (row,) = toll(connect(where.database), run, runs.every_change(run.id))
    assert (row.cause, row.count) == ("PumpFault", COUNT)
    assert len("".join(changes_csv(runs.every_change(run.id))).splitlines()) == COUNT + 1


class _Forgetful(Here):
    """A scheduler that begins anew and knows nothing of what it was given."""

    def submit(self, call, part, where) -> Future:
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
