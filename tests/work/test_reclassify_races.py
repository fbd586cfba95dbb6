"""What happens to diagnoses while a run is about them: no verdict is lost, none put twice."""

import multiprocessing
import os
import signal
from concurrent.futures import Future

import pytest
from sqlalchemy import delete, func, select

from app.errors import UsageError
from app.model import Job
from app.store import endings
from app.store.database import connect, transaction
from app.store.diagnoses import Place
from app.store.incidents import Incidents
from app.store.kept import KeptLogs
from app.store.reclassifications import Reclassifications
from app.store.tables import DiagnosisRow, KeptLogRow, PastVerdictRow
from app.store.uploads import Uploads
from app.work import kept, reclassify, seat
from app.work.reclassify import Engine, go_on, run_through
from app.work.worker import Order
from tests.work.here import Here
from tests.work.stored_pumps import LEAK, Pumps, stored

COUNT = 9
CALM = "all is well\n"


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(reclassify, "CHUNK", 3)


@pytest.fixture
def pumps(tmp_path) -> Pumps:
    return stored(tmp_path, [LEAK] * COUNT)


def times_replaced(pumps: Pumps) -> dict[str, int]:
    id = PastVerdictRow.diagnosis_id
    with transaction(connect(pumps.where.database)) as connection:
        return dict(map(tuple, connection.execute(select(id, func.count()).group_by(id)).all()))


def killed_at(where, id: str, deadly: int) -> None:
    """Go on with a run in a process that is killed at so many replacements of verdicts."""
    done, replacing = [], endings.replace

    def replaced(*given, **more):
        done.append(None)
        if len(done) == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return replacing(*given, **more)

    endings.replace = replaced
    reclassify.CHUNK = 3
    runs = Reclassifications(connect(where.database))
    go_on(runs, runs.find(id), where, Engine(1))


def apart(call, *given):
    process = multiprocessing.get_context("spawn").Process(target=call, args=given)
    process.start()
    return process


def test_a_kill_within_a_chunks_commit_leaves_nothing_half_written(pumps):
    run = pumps.begun()
    killed = apart(killed_at, pumps.where, run.id, 5)  # the second of the second chunk
    killed.join(60)
    assert killed.exitcode == -signal.SIGKILL
    halfway = pumps.runs.find(run.id)
    assert (halfway.status, halfway.done) == ("running", 3)
    assert len(pumps.runs.changes(run.id, None, 99)) == len(times_replaced(pumps)) == 3
    ended = go_on(pumps.runs, halfway, pumps.where, Engine(2))
    assert (ended.status, ended.done, ended.from_kept) == ("complete", COUNT, COUNT)
    assert times_replaced(pumps) == dict.fromkeys(pumps.ids, 1)


def test_two_processes_that_drive_one_run_replace_each_verdict_once(pumps):
    run = pumps.begun()
    both = [apart(killed_at, pumps.where, run.id, 0) for _ in range(2)]
    for each in both:
        each.join(120)
    assert [each.exitcode for each in both] == [0, 0]
    ended = pumps.runs.find(run.id)
    assert (ended.status, ended.done, ended.from_kept) == ("complete", COUNT, COUNT)
    assert times_replaced(pumps) == dict.fromkeys(pumps.ids, 1)


class _Meanwhile(Here):
    """Something happens after each part was judged, and before it is written."""

    def __init__(self, happens) -> None:
        super().__init__(1)
        self._happens = happens

    def submit(self, call, part, where) -> Future:
        judged = super().submit(call, part, where)
        judged.result()
        self._happens(part)
        return judged


def test_a_fuller_log_that_came_in_meanwhile_keeps_its_answer(pumps):
    def come_in(_):
        if pumps.ids[4] not in times_replaced(pumps):
            sha = Uploads(pumps.where.uploads).put(CALM.encode())
            path = str(Uploads(pumps.where.uploads).path(sha))
            order = Order(pumps.ids[4], Job(), (path,), 1 << 20, 1000)
            fuller = pumps.reader.read(order, lambda _: None)
            pumps.diagnoses.replace(pumps.ids[4], fuller, "the log has changed")

    with _Meanwhile(come_in) as pool:
        ended = run_through(pumps.runs, pumps.begun(), pumps.where, pool, at_once=1)
    (later,) = pumps.diagnoses.present([pumps.ids[4]])
    assert (ended.done, later.cause, later.revision) == (COUNT, "Unknown", 2)
    listed = {change.subject for change in pumps.runs.changes(ended.id, None, 99)}
    assert listed == set(pumps.ids) - {pumps.ids[4]}


def test_what_a_person_confirms_while_it_is_judged_stays(tmp_path):
    pumps = stored(tmp_path, [LEAK] * COUNT)
    cause = pumps.where.rules / "signals" / "pump.yaml"
    cause.write_text(cause.read_text().replace("cause: PumpFault", "cause: Waiting"))
    pumps.refresh()

    def confirm(part):
        if pumps.ids[4] in part.subjects:
            Incidents(connect(pumps.where.database)).confirm(pumps.ids[4], "kim", cause="PumpFault")

    with _Meanwhile(confirm) as pool:
        ended = run_through(pumps.runs, pumps.begun(), pumps.where, pool, at_once=1)
    causes = [present.cause for present in pumps.diagnoses.present(pumps.ids)]
    assert causes == ["PumpFault" if n == 4 else "Waiting" for n in range(COUNT)]
    assert pumps.runs.listed(ended.id).changed == COUNT - 1


def test_rules_that_change_while_a_run_goes_on_have_no_part_in_it(pumps):
    cause = pumps.where.rules / "causes" / "plant" / "PumpFault.yaml"

    def change(_):
        cause.write_text(cause.read_text().replace("fix_config", "restart"))

    ended = go_on(pumps.runs, pumps.begun(), pumps.where, Engine(1), change)
    assert (ended.status, set(pumps.actions())) == ("complete", {"fix_config"})


def test_a_process_that_finds_other_rules_than_those_of_the_run_ends_it(tmp_path, monkeypatch):
    monkeypatch.setattr(seat, "PROGRAM", "tests.work.strange_judge")
    pumps = stored(tmp_path, [*[LEAK] * 5, f"{LEAK}judge: kill\n", *[LEAK] * 3])
    cause = pumps.where.rules / "causes" / "plant" / "PumpFault.yaml"

    def change(_):
        cause.write_text(cause.read_text().replace("fix_config", "restart"))

    with pytest.raises(UsageError, match="rules .* have changed"):
        go_on(pumps.runs, pumps.begun(), pumps.where, Engine(1), change)
    assert pumps.actions() == ["fix_config"] * 3 + ["cordon_and_restart"] * 6


def test_a_log_that_has_vanished_keeps_its_verdict(tmp_path):
    pumps = stored(tmp_path, [f"{LEAK}run {n}\n" for n in range(COUNT)], is_kept=False)
    (request,) = [p.request for p in pumps.diagnoses.present([pumps.ids[4]])]
    Uploads(pumps.where.uploads).path(request.origins[0].sha256).unlink()
    ended = go_on(pumps.runs, pumps.begun(), pumps.where, Engine(1))
    assert (ended.status, ended.from_logs, ended.unread) == ("complete", COUNT - 1, 1)
    assert pumps.actions()[4] == "cordon_and_restart"
    assert pumps.runs.listed(ended.id).changed == COUNT - 1


class _Sweeping(Here):
    """What is kept no longer goes, after it was listed and before it is judged."""

    def __init__(self, gone: str) -> None:
        super().__init__(1)
        self._gone = DiagnosisRow.id == gone

    def submit(self, call, part, where) -> Future:
        with transaction(connect(where.database), writes=True) as connection:
            connection.execute(delete(DiagnosisRow).where(self._gone))
        return super().submit(call, part, where)


def test_a_diagnosis_that_is_deleted_while_a_run_is_about_it_is_passed_over(pumps):
    with _Sweeping(pumps.ids[1]) as pool:
        ended = run_through(pumps.runs, pumps.begun(), pumps.where, pool, at_once=1)
    assert (ended.status, ended.done, ended.unread) == ("complete", COUNT, 1)
    assert pumps.actions() == ["fix_config"] * (COUNT - 1)


def test_another_log_in_the_place_of_one_is_not_judged_for_it(tmp_path):
    pumps = stored(tmp_path, [])
    (tmp_path / "logs").mkdir()
    log = tmp_path / "logs" / "train.log"
    log.write_text(LEAK)
    pumps.add(Place(str(log)), str(log), is_kept=False)
    same = go_on(pumps.runs, pumps.begun(applies=False), pumps.where, Engine(1))
    assert (same.from_logs, same.unread) == (1, 0)
    log.write_text(LEAK + CALM)
    ended = go_on(pumps.runs, pumps.begun(), pumps.where, Engine(1))
    assert (ended.status, ended.from_logs, ended.unread) == ("complete", 0, 1)
    assert "has changed since it was diagnosed" in pumps.unjudged(ended)[0]
    assert pumps.actions() == ["cordon_and_restart"]


def test_a_fuller_log_that_is_too_large_to_be_kept_takes_what_was_kept_with_it(pumps, monkeypatch):
    monkeypatch.setattr(kept, "MOST_BYTES", 1)
    (request,) = [p.request for p in pumps.diagnoses.present(pumps.ids[:1])]
    path = str(Uploads(pumps.where.uploads).path(request.origins[0].sha256))
    order = Order(request.id, request.job, (path,), 1 << 20, 1000)
    fuller = pumps.reader.read(order, lambda _: None)
    pumps.diagnoses.replace(request.id, fuller, "the log has changed")
    engine = connect(pumps.where.database)
    assert KeptLogs(engine).find(pumps.ids).keys() == set(pumps.ids[1:])
    with transaction(engine) as connection:
        assert connection.execute(select(func.count(KeptLogRow.rules))).scalar() == COUNT - 1


def test_no_more_than_one_kept_log_is_loaded_at_a_time(pumps, monkeypatch):
    asked: list[int] = []
    find = KeptLogs.find

    def noted(self, ids):
        asked.append(len(ids))
        return find(self, ids)

    monkeypatch.setattr(KeptLogs, "find", noted)
    with Here(1) as pool:
        run_through(pumps.runs, pumps.begun(), pumps.where, pool, at_once=1)
    assert asked == [1] * COUNT
