"""Logs that kill, hold up or break their judge: each lacks a verdict, and the run goes on."""

import multiprocessing
import os
import subprocess
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from app.store.database import connect
from app.store.reclassifications import Reclassifications
from app.work import bench, reclassify, seat
from app.work.reclassify import Engine, WorkersLost, go_on
from tests.waiting import until
from tests.work.stored_pumps import LEAK, stored

COUNT = 9
BAD = 5


@pytest.fixture(autouse=True)
def _strange(monkeypatch):
    monkeypatch.setattr(seat, "PROGRAM", "tests.work.strange_judge")


def with_bad(folder: Path, order: str, **more):
    logs = [LEAK] * COUNT
    logs[BAD] = f"{LEAK}judge: {order}\n"
    return stored(folder, logs, **more)


def expected(missing: set[int]) -> list[str]:
    return ["cordon_and_restart" if n in missing else "fix_config" for n in range(COUNT)]


@pytest.mark.parametrize(
    ("order", "is_kept", "why"),
    [
        ("kill", True, "killed 2 times"),
        ("kill", False, "killed 2 times"),
        ("hang", False, "not judged within 1.5 seconds"),
        ("raise", True, r"ZeroDivisionError: of no use \0"),
    ],
)
def test_a_bad_log_keeps_its_verdict_and_the_others_get_theirs(tmp_path, order, why, is_kept):
    pumps = with_bad(tmp_path, order, is_kept=is_kept)
    where = replace(pumps.where, log_seconds=1.5)
    ended = go_on(pumps.runs, pumps.begun(), where, Engine(1))
    assert (ended.status, ended.done, ended.unread) == ("complete", COUNT, 1)
    assert pumps.actions() == expected({BAD})
    told = pumps.unjudged(ended)
    assert list(told) == [BAD]
    assert why in told[BAD]
    listed = pumps.runs.listed(ended.id)
    assert (listed.changed, listed.unjudged) == (COUNT - 1, 1)
    (missing,) = [c for c in pumps.runs.changes(ended.id, None, 99) if c.cause is None]
    assert (missing.cause_before, missing.action_before) == ("PumpFault", "cordon_and_restart")


def test_a_log_whose_process_was_killed_once_is_judged_by_the_next(tmp_path):
    pumps = with_bad(tmp_path, f"kill {tmp_path / 'mark'}")
    ended = go_on(pumps.runs, pumps.begun(), pumps.where, Engine(1))
    assert (tmp_path / "mark").exists()
    assert (ended.status, ended.done, ended.unread) == ("complete", COUNT, 0)
    assert pumps.actions() == expected(set())


def test_several_bad_logs_in_a_row_and_at_the_ends_are_all_found(tmp_path):
    orders = {0: "kill", 3: "raise", 4: "kill", 8: "hang"}
    logs = [f"{LEAK}judge: {orders[n]}\n" if n in orders else LEAK for n in range(COUNT)]
    pumps = stored(tmp_path, logs)
    where = replace(pumps.where, log_seconds=1.5)
    ended = go_on(pumps.runs, pumps.begun(), where, Engine(2))
    assert (ended.status, ended.done, ended.unread) == ("complete", COUNT, 4)
    assert set(pumps.unjudged(ended)) == set(orders)
    assert pumps.actions() == expected(set(orders))


def test_a_process_that_dies_before_it_judges_is_no_logs_fault(tmp_path, monkeypatch):
    pumps = stored(tmp_path, [LEAK])
    monkeypatch.setattr(seat, "PROGRAM", "tests.work.nowhere")
    monkeypatch.setattr(reclassify, "_PATIENCE", (0.0,))
    with pytest.raises(WorkersLost, match="before they judge"):
        go_on(pumps.runs, pumps.begun(), pumps.where, Engine(1))
    assert pumps.unjudged(pumps.runs.page(1)[0]) == {}


def test_processes_take_no_program_of_the_present_folder_for_ours(tmp_path, monkeypatch):
    pumps = stored(tmp_path, [LEAK])
    (tmp_path / "app.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    ended = go_on(pumps.runs, pumps.begun(), pumps.where, Engine(1))
    assert (ended.status, pumps.actions()) == ("complete", ["fix_config"])


def test_a_chunk_ends_once_enough_was_read_or_enough_time_went_by(tmp_path, monkeypatch):
    pumps = stored(tmp_path, [LEAK] * COUNT, is_kept=False)
    seen: list[int] = []
    note = lambda run: seen.append(run.done)  # noqa: E731
    monkeypatch.setattr(reclassify, "CHUNK_BYTES", 3 * len(LEAK))
    go_on(pumps.runs, pumps.begun(applies=False), pumps.where, Engine(1), note)
    assert [done for done in seen if done < COUNT] == [3, 6]
    monkeypatch.setattr(reclassify, "CHUNK_BYTES", 1 << 30)
    monkeypatch.setattr(reclassify, "CHUNK_SECONDS", 0.0)
    seen.clear()
    run = go_on(pumps.runs, pumps.begun(), pumps.where, Engine(2), note)
    assert seen[:COUNT] == list(range(1, COUNT + 1))
    assert (run.status, pumps.actions()) == ("complete", expected(set()))


@pytest.mark.parametrize("is_cancelled", [True, False], ids=["cancelled", "told to stop"])
def test_a_run_ends_within_seconds_while_a_log_is_under_way(tmp_path, is_cancelled):
    pumps = with_bad(tmp_path, "hang")
    run, stop = pumps.begun(), threading.Event()
    with ThreadPoolExecutor(1) as threads:
        gone = threads.submit(go_on, pumps.runs, run, pumps.where, Engine(2), stop=stop)
        until(lambda: judging_processes())
        time.sleep(2)
        began = time.monotonic()
        if is_cancelled:
            pumps.runs.end(run.id, "cancelled")
        else:
            stop.set()
        ended = gone.result(60)
    assert time.monotonic() - began < 15
    assert ended.status == ("cancelled" if is_cancelled else "running")
    until(lambda: not judging_processes())


def test_a_worker_far_away_gives_up_a_run_that_was_cancelled(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "STOPPED_SECONDS", 0.2)
    pumps = with_bad(tmp_path, "hang")
    run, there = pumps.begun(), bench.Bench()
    (part,) = reclassify._parts(pumps.runs, run, pumps.where)
    with ThreadPoolExecutor(1) as threads:
        judged = threads.submit(there.judge, part, pumps.where)
        until(lambda: judging_processes())
        pumps.runs.end(run.id, "cancelled")
        assert judged.result(20) is None
    there.close()


class KilledWorker(Exception):
    """What Dask says of a task on which workers died, one after the other."""


class _Cluster(ThreadPoolExecutor):
    """A cluster whose workers die of one diagnosis, each with all that it was given."""

    def __init__(self, deadly: str) -> None:
        super().__init__(2)
        self._deadly = deadly

    def submit(self, call, part, where) -> Future:
        if self._deadly not in part.subjects:
            return super().submit(call, part, where)
        lost: Future = Future()
        lost.set_exception(KilledWorker("worker-1"))
        return lost


def test_a_part_whose_workers_die_is_split_down_to_the_log_that_they_die_of(tmp_path):
    pumps = stored(tmp_path, [LEAK] * COUNT)
    run = pumps.begun()
    with _Cluster(pumps.ids[BAD]) as pool:
        ended = reclassify.run_through(pumps.runs, run, pumps.where, pool, at_once=2)
    assert (ended.status, ended.done, ended.unread) == ("complete", COUNT, 1)
    assert "died, one after the other" in pumps.unjudged(ended)[BAD]
    assert pumps.actions() == expected({BAD})


def drive(where, id: str) -> None:
    """Drive a run, in a process of its own."""
    seat.PROGRAM = "tests.work.strange_judge"
    runs = Reclassifications(connect(where.database))
    go_on(runs, runs.find(id), where, Engine(2))


def test_processes_end_with_whoever_has_them_judge(tmp_path):
    pumps = with_bad(tmp_path, "hang")
    spawn = multiprocessing.get_context("spawn")
    driver = spawn.Process(target=drive, args=(pumps.where, pumps.begun().id))
    driver.start()
    until(lambda: judging_processes(driver.pid))
    judging = judging_processes(driver.pid)
    driver.kill()
    driver.join()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in judging))


def judging_processes(parent: int | None = None) -> list[int]:
    found = subprocess.run(
        ["pgrep", "-P", str(parent or os.getpid()), "-f", "tests.work.strange_judge"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return [int(pid) for pid in found.stdout.split()]
