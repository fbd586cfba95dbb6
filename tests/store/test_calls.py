from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.reason.call import Call, Spending
from app.store.calls import Calls, Day
from app.store.database import connect
from app.store.migrate import migrate

_NOON = 1_790_000_000.0  # 2026-09-21, in UTC
_DAY = 86_400
_CALL = Call(
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


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    engine = connect(f"sqlite:///{tmp_path / 'f.db'}")
    migrate(engine)
    yield Calls(engine)
    engine.dispose()


def test_a_day_without_calls_has_spent_nothing(calls: Calls) -> None:
    assert calls.spent(_NOON) == Spending(0, 0, 0.0)
    assert calls.days() == []


def test_the_calls_of_a_day_are_summed_up_and_those_of_others_are_not(calls: Calls) -> None:
    for call in (_CALL, replace(_CALL, outcome="invalid"), replace(_CALL, at=_NOON - _DAY)):
        calls.add(call)
    assert calls.spent(_NOON + 60) == Spending(2, 2100, 0.5)
    assert calls.days() == [
        Day("2026-09-21", Spending(2, 2100, 0.5)),
        Day("2026-09-20", Spending(1, 1050, 0.25)),
    ]


def test_the_calls_of_a_diagnosis_come_back_as_they_were(calls: Calls) -> None:
    calls.add(_CALL)
    calls.add(replace(_CALL, diagnosis_id=None))
    assert calls.of_diagnosis("dg_1") == [_CALL]
