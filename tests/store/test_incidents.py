"""What memory is told of changes, by machines whose clocks are an hour apart."""

import time

import pytest

from app.incident import Snippet
from app.model import Job
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Request, Upload
from app.store.ids import new_id
from app.store.incidents import Incidents
from app.store.migrate import migrate
from app.store.outcome import Outcome, Remembered


@pytest.fixture
def engine(postgres_server):
    found = connect(postgres_server.new_database())
    migrate(found)
    yield found
    found.dispose()


def diagnosed(engine) -> str:
    id, told = new_id(), Remembered("fp", Snippet(("a line",)), Job())
    Diagnoses(engine).add(Request(id, Job(), (Upload("0" * 64),)))
    outcome = Outcome("{}", "", "KeyError", "d", "low", "none", "", remembered=told)
    Diagnoses(engine).finish(id, outcome)
    return Incidents(engine).find(id).id


@pytest.mark.parametrize("skew", [-3600.0, 3600.0])
def test_changes_are_told_in_the_order_in_which_they_came_whatever_a_clock_says(
    engine, monkeypatch, skew
):
    incidents, right = Incidents(engine), time.time
    first = diagnosed(engine)
    with monkeypatch.context() as slow:
        slow.setattr(time, "time", lambda: right() + skew)
        second = diagnosed(engine)
        incidents.confirm(first, "ana")
    third = diagnosed(engine)
    changed = incidents.changed((0.0, ""), 9)
    assert [one.id for one in changed] == [second, first, third]
    assert abs(changed[0].at - right()) < 60
