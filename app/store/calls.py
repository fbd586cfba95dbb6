"""Keep the calls to language models: what each was for and took, and their sums.

A day is one of UTC, by the time when a call was sent. The totals are rows of their own, written
with each call: they are a few dozen however many calls there were, and never fall when calls are
deleted. All calls of this class block and may be made from any thread or process; the sums include
what other processes have kept.
"""

import datetime
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, Engine, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from app.reason.call import Call, Spending
from app.store.database import transaction
from app.store.tables import CallRow as Row
from app.store.tables import CallTotalRow as TotalRow

_TOKENS = func.coalesce(func.sum(Row.tokens_in + Row.tokens_out), 0)
_COST = func.coalesce(func.sum(Row.cost), 0.0)


@dataclass(frozen=True, slots=True)
class Day:
    """What the calls of one day took; `day` is written as 2026-11-30."""

    day: str
    spending: Spending


@dataclass(frozen=True, slots=True)
class Total:
    """What the calls for one purpose with one outcome took since there is a database."""

    purpose: str
    outcome: str
    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float
    cost: float


class Calls:
    """The table of calls."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, call: Call) -> None:
        """Keep one call, and count it."""
        row = {"day": day_of(call.at), **asdict(call)}
        with transaction(self._engine) as connection:
            connection.execute(insert(Row), row)
            _count(connection, call)

    def totals(self) -> list[Total]:
        """Give the sums of all calls there ever were, by purpose and outcome."""
        columns = [getattr(TotalRow, name) for name in Total.__dataclass_fields__]
        query = select(*columns).order_by(TotalRow.purpose, TotalRow.outcome)
        with transaction(self._engine) as connection:
            return [Total(**row._mapping) for row in connection.execute(query).all()]

    def spent(self, at: float) -> Spending:
        """Sum up the day of a time."""
        query = select(func.count(), _TOKENS, _COST).where(Row.day == day_of(at))
        with transaction(self._engine) as connection:
            count, tokens, cost = connection.execute(query).one()
        return Spending(count, int(tokens), float(cost))

    def days(self, limit: int = 31) -> list[Day]:
        """Sum up the last days on which there were calls, the newest first."""
        query = select(Row.day, func.count(), _TOKENS, _COST).group_by(Row.day)
        with transaction(self._engine) as connection:
            rows = connection.execute(query.order_by(Row.day.desc()).limit(limit)).all()
        return [Day(row[0], Spending(row[1], int(row[2]), float(row[3]))) for row in rows]

    def of_diagnosis(self, id: str) -> list[Call]:
        """List the calls of one diagnosis in the order in which they were kept."""
        columns = [getattr(Row, name) for name in Call.__dataclass_fields__]
        query = select(*columns).where(Row.diagnosis_id == id).order_by(Row.id)
        with transaction(self._engine) as connection:
            return [Call(**row._mapping) for row in connection.execute(query).all()]


def _count(connection: Connection, call: Call) -> None:
    """Add a call to its total; who comes first makes the row."""
    is_sqlite = connection.dialect.name == "sqlite"
    write = sqlite.insert if is_sqlite else postgresql.insert
    took = {
        "calls": 1,
        "tokens_in": call.tokens_in,
        "tokens_out": call.tokens_out,
        "seconds": call.seconds,
        "cost": call.cost,
    }
    added = {name: getattr(TotalRow, name) + value for name, value in took.items()}
    key = {"purpose": call.purpose, "outcome": call.outcome}
    connection.execute(
        write(TotalRow)
        .values(**key, **took)
        .on_conflict_do_update(index_elements=list(key), set_=added)
    )


def day_of(at: float) -> str:
    """Name the day (UTC) of a time."""
    return datetime.datetime.fromtimestamp(at, datetime.UTC).date().isoformat()
