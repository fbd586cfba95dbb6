"""What is deleted by age and what never is, on both databases."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa

from app.errors import NotFound, NotReady
from app.incident import Snippet
from app.model import Job
from app.reason.call import Call
from app.store.calls import Calls
from app.store.database import connect
from app.store.deliveries import Deliveries
from app.store.diagnoses import Diagnoses, Request, Upload
from app.store.feedback import Feedbacks, Given
from app.store.history import past_verdicts
from app.store.ids import first_id_at, new_id
from app.store.incidents import Incidents
from app.store.migrate import migrate
from app.store.outcome import Blame, Outcome, Remembered
from app.store.reclassifications import Reclassifications
from app.store.retention import Retention
from app.store.run import Chosen
from app.store.tables import (
    BlameRow,
    CallRow,
    DeliveryRow,
    DiagnosisRow,
    IncidentRow,
    KeptLogRow,
    PastVerdictRow,
    ReclassificationRow,
    ReclassifiedRow,
)

DAY = 86_400
OLD = time.time() - 100 * DAY
CUT = time.time() - 50 * DAY
ANSWER = Outcome(
    '{"a": 1}', "digest", "KeyError", "script", "high", "fix_code", "a key", rules="sha256:1",
    blames=(Blame("gpu-1", True),), kept=b"a log",
    remembered=Remembered("fp", Snippet(("a line",)), Job()),
)  # fmt: skip


@pytest.fixture
def engine(each_database):
    found = connect(each_database)
    migrate(found)
    yield found
    found.dispose()


@pytest.fixture
def retention(engine):
    return Retention(engine)


def count(engine, table) -> int:
    with engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()


def backdate(engine, table, **times: float) -> None:
    with engine.begin() as connection:
        connection.execute(sa.update(table).values(times))


def diagnosed(engine, at: float, number: int = 0, *, answers: int = 1) -> str:
    """A diagnosis with so many answers, all of that time."""
    id, diagnoses = f"{first_id_at(at)[:-4]}{number:04d}", Diagnoses(engine)
    diagnoses.add(Request(id, Job(), (Upload("0" * 64),)))
    diagnoses.finish(id, ANSWER)
    for _ in range(answers - 1):
        diagnoses.replace(id, replace(ANSWER, cause="TypeError"), "the log has changed")
    with engine.begin() as connection:
        of = DiagnosisRow.id == id
        connection.execute(sa.update(DiagnosisRow).where(of).values(finished_at=at))
        past = sa.update(PastVerdictRow).where(PastVerdictRow.diagnosis_id == id)
        connection.execute(past.values(replaced_at=at))
    return id


def spoken_of(engine, id: str) -> None:
    said = Feedbacks(engine).said(id)
    told = Given(id, "confirm", said.cause, "ana", "", said, False, False, False)
    Feedbacks(engine).add(told)


def test_replaced_answers_go_by_age_some_at_a_time(engine, retention):
    old, fresh = diagnosed(engine, OLD, answers=4), diagnosed(engine, time.time(), answers=2)
    assert [retention.past_verdicts(CUT, 2) for _ in range(3)] == [2, 1, 0]
    assert past_verdicts(engine, old) == []
    assert len(past_verdicts(engine, fresh)) == 1
    assert Diagnoses(engine).find(old).revision == 4


def test_an_answer_of_long_ago_that_was_replaced_just_now_stays(engine, retention):
    id = diagnosed(engine, OLD, answers=2)
    backdate(engine, PastVerdictRow, replaced_at=time.time())
    assert retention.past_verdicts(CUT, 9) == 0
    assert len(past_verdicts(engine, id)) == 1


def test_kept_logs_go_by_the_age_of_their_diagnosis(engine, retention):
    diagnosed(engine, OLD)
    fresh = diagnosed(engine, time.time())
    assert [retention.kept_logs(CUT, 9) for _ in range(2)] == [1, 0]
    with engine.connect() as connection:
        assert connection.execute(sa.select(KeptLogRow.diagnosis_id)).scalars().all() == [fresh]


def test_what_a_person_spoke_of_keeps_all_that_belongs_to_it(engine, retention):
    spoken, other = diagnosed(engine, OLD, 1, answers=3), diagnosed(engine, OLD, 2, answers=3)
    spoken_of(engine, spoken)
    assert retention.past_verdicts(CUT, 1) == 1
    while retention.past_verdicts(CUT, 1) or retention.kept_logs(CUT, 1):
        pass
    while retention.results(CUT, 1):
        pass
    assert len(past_verdicts(engine, spoken)) == 2
    assert Incidents(engine).confirmed([spoken]) == {spoken: "TypeError"}
    with engine.connect() as connection:
        assert connection.execute(sa.select(KeptLogRow.diagnosis_id)).scalars().all() == [spoken]
    with pytest.raises(NotFound):
        Diagnoses(engine).find(other)


def test_results_go_with_all_that_belongs_to_them(engine, retention):
    for number in range(5):
        diagnosed(engine, OLD, number, answers=2)
    fresh = diagnosed(engine, time.time())
    assert [retention.results(CUT, 3) for _ in range(3)] == [3, 2, 0]
    tables = (DiagnosisRow, KeptLogRow, BlameRow, IncidentRow, PastVerdictRow)
    assert [count(engine, table) for table in tables] == [1, 1, 1, 1, 0]
    assert Diagnoses(engine).find(fresh).status == "complete"


def test_what_has_not_ended_or_is_still_to_be_told_stays(engine, retention):
    diagnoses, told = Diagnoses(engine), diagnosed(engine, OLD)
    diagnoses.add(Request(f"{first_id_at(OLD)[:-1]}Z", Job(), ()))
    Deliveries(engine).plan(told, 1, "oncall", "http://x", "json")
    assert retention.results(CUT, 9) == 0
    (delivery,) = Deliveries(engine).page("pending", None, 9)
    Deliveries(engine).sent(delivery.id)
    assert retention.results(CUT, 9) == 1
    assert count(engine, DeliveryRow) == 0
    assert len(diagnoses.unfinished()) == 1


def test_nobody_can_speak_of_what_was_removed(engine, retention):
    id = diagnosed(engine, OLD)
    said = Feedbacks(engine).said(id)
    retention.results(CUT, 9)
    with pytest.raises(NotReady, match="removed"):
        Feedbacks(engine).add(Given(id, "confirm", "x", "ana", "", said, False, False, False))


def test_messages_go_once_they_were_taken_or_given_up(engine, retention):
    deliveries = Deliveries(engine)
    pending, sent, dead = (
        deliveries.plan(new_id(), 1, "oncall", "http://x", "json") for _ in range(3)
    )
    deliveries.sent(sent)
    deliveries.failed(dead, "HTTP 500", final=True)
    assert retention.deliveries(time.time() - 1, 9) == 0
    later = time.time() + 60
    assert [retention.deliveries(later, 1) for _ in range(3)] == [1, 1, 0]
    assert [one.id for one in deliveries.page(None, None, 9)] == [pending]


def test_the_calls_of_a_day_go_together_and_never_those_of_today(engine, retention):
    calls = Calls(engine)
    for at in (OLD, OLD + 1, time.time()):
        calls.add(Call(at, "doubt", "p", 1, "m", "text", "answered", 1, 1, 0.1, 0.5))
    assert retention.calls(time.time() + 1, 9) == 2
    assert count(engine, CallRow) == 1
    assert calls.spent(time.time()).calls == 1


def test_reclassifications_go_after_what_they_changed(engine, retention):
    runs = Reclassifications(engine)
    ended, running = (runs.begin(Chosen(), applies=False, rules="1") for _ in range(2))
    runs.end(ended.id, "complete")
    backdate(engine, ReclassificationRow, created_at=OLD)
    rows = [
        {"reclassification_id": run.id, "subject": f"log {n}", "by_model": False, "why": ""}
        for run in (ended, running)
        for n in range(3)
    ]
    with engine.begin() as connection:
        connection.execute(sa.insert(ReclassifiedRow), rows)
    assert retention.reclassifications(CUT, 2) == 0
    with engine.begin() as connection:
        old = sa.update(ReclassificationRow).where(ReclassificationRow.id == ended.id)
        connection.execute(old.values(finished_at=OLD))
    assert [retention.reclassifications(CUT, 2) for _ in range(4)] == [2, 1, 1, 0]
    assert len(runs.changes(running.id, None, 9)) == 3
    with pytest.raises(NotFound):
        runs.find(ended.id)


def test_two_replicas_that_delete_at_once_delete_each_row_once(each_database, engine):
    for number in range(60):
        diagnosed(engine, OLD, number, answers=2)
    engines = [connect(each_database) for _ in range(2)]

    def emptied(own) -> int:
        total = 0
        while gone := Retention(own).results(CUT, 7):
            total += gone
        return total

    with ThreadPoolExecutor(2) as threads:
        assert sum(threads.map(emptied, engines)) == 60
    assert [count(engine, table) for table in (DiagnosisRow, PastVerdictRow, KeptLogRow)] == [0] * 3
    for own in engines:
        own.dispose()
