from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.reason.call import Call, Spending
from app.store.calls import Calls, Day, Total
from app.store.database import connect, transaction
from app.store.migrate import migrate
from app.store.tables import CallRow
from tests.postgres import MISSING, Postgres, postgres

_NOON = 1_790_000_000.0  # 2026-09-21, in UTC
_DAY = 86_400
CALL = Call(
    at=_NOON,
    purpose="name the cause",
    prompt="failure_agent",
    prompt_version=1,
    model="m",
    rung="json_schema",
    outcome="answered",
    tokens_in=1000,
    tokens_out=50,
    seconds=1.5,
    cost=0.25,
    diagnosis_id="dg_1",
)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    if MISSING:
        pytest.skip(MISSING)
    with postgres() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    if request.param == "sqlite":
        found = connect(f"sqlite:///{tmp_path / 'f.db'}")
    else:
        found = connect(request.getfixturevalue("server").url)
        with found.begin() as connection:
            connection.execute(sa.text("drop schema public cascade"))
            connection.execute(sa.text("create schema public"))
    migrate(found)
    yield found
    found.dispose()


@pytest.fixture
def calls(engine: sa.Engine) -> Calls:
    return Calls(engine)


def test_a_day_without_calls_has_spent_nothing(calls: Calls) -> None:
    assert calls.spent(_NOON) == Spending(0, 0, 0.0)
    assert calls.days() == []


def test_the_calls_of_a_day_are_summed_up_and_those_of_others_are_not(calls: Calls) -> None:
    for call in (CALL, replace(CALL, outcome="invalid"), replace(CALL, at=_NOON - _DAY)):
        calls.add(call)
    assert calls.spent(_NOON + 60) == Spending(2, 2100, 0.5)
    assert calls.days() == [
        Day("2026-09-21", Spending(2, 2100, 0.5)),
        Day("2026-09-20", Spending(1, 1050, 0.25)),
    ]


def test_the_calls_of_a_diagnosis_come_back_as_they_were(calls: Calls) -> None:
    calls.add(CALL)
    calls.add(replace(CALL, diagnosis_id=None))
    assert calls.of_diagnosis("dg_1") == [CALL]


def test_totals_tell_purposes_and_outcomes_apart(calls: Calls) -> None:
    assert calls.totals() == []
    filters = replace(CALL, purpose="write filters", diagnosis_id=None)
    for call in (CALL, filters, replace(CALL, at=_NOON - _DAY), replace(CALL, outcome="cut")):
        calls.add(call)
    assert calls.totals() == [
        Total("name the cause", "answered", 2, 2000, 100, 3.0, 0.5),
        Total("name the cause", "cut", 1, 1000, 50, 1.5, 0.25),
        Total("write filters", "answered", 1, 1000, 50, 1.5, 0.25),
    ]


def test_totals_do_not_fall_when_old_calls_are_deleted(engine: sa.Engine, calls: Calls) -> None:
    calls.add(CALL)
    before = calls.totals()
    with transaction(engine, writes=True) as connection:
        connection.execute(sa.delete(CallRow))
    assert calls.totals() == before
    calls.add(CALL)
    assert [total.calls for total in calls.totals()] == [2]


def test_totals_count_every_call_of_several_processes_at_once(engine: sa.Engine) -> None:
    url = engine.url.render_as_string(hide_password=False)
    engines = [connect(url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(Calls(engines[n % 4]).add, CALL) for n in range(40)]:
            done.result()
    assert [total.calls for total in Calls(engine).totals()] == [40]
    for each in engines:
        each.dispose()
