"""Which diagnosis a report belongs to, and when there is no room for another."""

import pytest

from app.errors import Busy
from app.model import Job
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Place, Request
from app.store.exits import Exits, Room
from app.store.ids import new_id
from app.store.migrate import migrate

ROOMY = Room(queued=100, waiting=100)


@pytest.fixture
def engine(each_database):
    found = connect(each_database)
    migrate(found)
    yield found
    found.dispose()


@pytest.fixture
def exits(engine):
    return Exits(engine)


def report(job_id: str | None = None, status: str = "waiting") -> Request:
    return Request(new_id(), Job(cluster="c1", job_id=job_id), (Place("/a.log"),), status=status)


def test_the_message_itself_goes_before_the_same_attempt_of_the_job(exits):
    """A sender that uses an id again for another job is answered as it was before."""
    for jobs in (("1", "2"), ("4", "3")):
        by_key = exits.accept(report(jobs[0]), f"m{jobs[0]}", ROOMY)
        by_message = exits.accept(report(jobs[1]), f"m{jobs[1]}", ROOMY)
        found = exits.accept(report(jobs[0]), f"m{jobs[1]}", ROOMY)
        assert (found.id, found.is_new) == (by_message.id, False)
        assert found.id != by_key.id


def test_a_repetition_is_known_however_full_it_is(exits):
    full = Room(queued=0, waiting=0)
    first = exits.accept(report("1"), "m1", ROOMY)
    with pytest.raises(Busy):
        exits.accept(report("2"), "m2", full)
    assert exits.accept(report("1"), "m1", full).id == first.id
    assert exits.accept(report("1"), "m3", full).id == first.id


def test_reports_that_wait_for_their_logs_have_a_bound_of_their_own(exits, engine):
    room = Room(queued=1, waiting=2)
    waiting = [exits.accept(report(str(n)), f"m{n}", room) for n in range(2)]
    with pytest.raises(Busy, match="2 logs of reported exits"):
        exits.accept(report("7"), "m7", room)
    assert Diagnoses(engine).count_queued() == 0
    assert exits.accept(report(status="queued"), "path", room).is_new
    exits.settle(waiting[0].id, "state")
    with pytest.raises(Busy, match="2 diagnoses are waiting"):
        exits.accept(report("8"), "m8", room)
