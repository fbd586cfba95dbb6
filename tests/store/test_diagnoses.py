import time

import pytest

from app.errors import NotFound, NotReady, StoreError
from app.model import Job
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Place, Request, Upload
from app.store.ids import new_id
from app.store.migrate import migrate
from app.store.outcome import Fault, Outcome

JOB = Job(job_id="4711", attempt=2, state="FAILED", nodes=("gpu-1", "gpu-2"))


def outcome(cause: str = "KeyError") -> Outcome:
    return Outcome('{"a": 1}', "digest", cause, "script", "high", "fix_code", "a key is missing")


def request(job: Job = JOB) -> Request:
    time.sleep(0.001)  # the order of ids is that of time
    return Request(new_id(), job, (Upload("ab" * 32), Place("/logs/a.log")))


@pytest.fixture
def diagnoses(tmp_path):
    engine = connect(f"sqlite:///{tmp_path / 'f.db'}")
    migrate(engine)
    yield Diagnoses(engine)
    engine.dispose()


def test_what_was_added_comes_back_whole_as_unfinished(diagnoses):
    first, second = request(), request(Job())
    diagnoses.add(first)
    diagnoses.add(second)
    assert diagnoses.unfinished() == [first, second]


def test_what_has_ended_is_no_longer_unfinished(diagnoses):
    waiting, done, failed = request(), request(), request()
    for one in (waiting, done, failed):
        diagnoses.add(one)
    diagnoses.finish(done.id, outcome())
    diagnoses.finish(failed.id, Fault("SourceError", 422, "cannot be read"))
    assert diagnoses.unfinished() == [waiting]
    assert diagnoses.find(waiting.id).status == "queued"


def test_an_answer_is_handed_back_as_it_was_given(diagnoses):
    one = request()
    diagnoses.add(one)
    diagnoses.finish(one.id, outcome())
    found = diagnoses.find(one.id)
    assert (found.status, found.answer, found.fault) == ("complete", '{"a": 1}', None)
    assert diagnoses.digest(one.id) == "digest"


def test_an_answer_that_was_long_in_the_making_never_replaces_a_later_one(diagnoses):
    one = request()
    diagnoses.add(one)
    diagnoses.finish(one.id, outcome())
    begun_with = diagnoses.find(one.id).revision
    later = diagnoses.replace(one.id, outcome("CUDAError"), "the log has changed")
    assert diagnoses.replace(one.id, outcome("TypeError"), "a model", of=begun_with) is None
    assert diagnoses.find(one.id).revision == later
    assert [entry.cause for entry in diagnoses.page()] == ["CUDAError"]


def test_a_fault_is_handed_back_with_its_reason(diagnoses):
    one = request()
    diagnoses.add(one)
    fault = Fault("SourceError", 422, "cannot be read")
    diagnoses.finish(one.id, fault)
    assert diagnoses.find(one.id).fault == fault
    with pytest.raises(NotFound, match="has failed and has no digest"):
        diagnoses.digest(one.id)


def test_a_digest_that_is_asked_for_too_early_is_not_ready(diagnoses):
    one = request()
    diagnoses.add(one)
    with pytest.raises(NotReady):
        diagnoses.digest(one.id)


def test_what_has_ended_is_not_changed_by_a_late_second_result(diagnoses):
    one = request()
    diagnoses.add(one)
    diagnoses.finish(one.id, outcome())
    diagnoses.finish(one.id, Fault("WorkerKilled", 500, "late"))
    assert diagnoses.find(one.id).status == "complete"


@pytest.mark.parametrize("id", ["", "dg_nothing", "\x00", "dg_01M8NE1DBM6YQYBZ578MNDX3YE"])
def test_an_id_that_nobody_gave_is_not_found(diagnoses, id):
    with pytest.raises(NotFound):
        diagnoses.find(id)
    with pytest.raises(NotFound):
        diagnoses.digest(id)


def test_lists_are_newest_first_in_pages_that_neither_overlap_nor_leave_out(diagnoses):
    ids = [add(diagnoses).id for _ in range(7)]
    shown, before = [], None
    while part := diagnoses.page(before=before, limit=3):
        shown += [entry.id for entry in part]
        before = shown[-1]
    assert shown == ids[::-1]


def add(diagnoses, job: Job = JOB, cause: str | None = None) -> Request:
    one = request(job)
    diagnoses.add(one)
    if cause:
        diagnoses.finish(one.id, outcome(cause))
    return one


def test_lists_can_be_narrowed_by_job_cause_and_time(diagnoses):
    old = add(diagnoses, Job(job_id="1"), "KeyError")
    time.sleep(0.005)
    border = time.time()
    key = add(diagnoses, Job(job_id="1"), "KeyError")
    ecc = add(diagnoses, Job(job_id="2"), "ECCError")

    def ids(**wanted):
        return [entry.id for entry in diagnoses.page(**wanted)]

    assert ids(job_id="1") == [key.id, old.id]
    assert ids(cause="ECCError") == [ecc.id]
    assert ids(since=border) == [ecc.id, key.id]
    assert ids(job_id="1", cause="KeyError", since=border) == [key.id]
    assert ids(cause="NameError") == []


def test_an_entry_tells_what_a_list_shows(diagnoses):
    one = add(diagnoses, cause="KeyError")
    entry = diagnoses.page()[0]
    assert entry.id == one.id
    assert (entry.cause, entry.confidence, entry.action) == ("KeyError", "high", "fix_code")
    assert entry.finished_at >= entry.created_at


def test_a_database_that_is_gone_is_a_store_error(diagnoses, tmp_path):
    diagnoses._engine.dispose()
    for file in tmp_path.iterdir():
        file.unlink()
    (tmp_path / "f.db").mkdir()
    with pytest.raises(StoreError, match="database"):
        diagnoses.check()
