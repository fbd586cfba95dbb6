"""Keep runs over stored diagnoses: what was chosen, how far each is, which verdicts changed.

A chunk's outcome and the id up to which the run has come are written in one transaction, so a run
that was killed goes on where it was, and no verdict is counted or replaced twice.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TypeVarTuple

from sqlalchemy import ColumnElement as Condition
from sqlalchemy import Connection, Engine, Select, func, insert, select, update

from app.errors import NotFound
from app.store import endings
from app.store.database import transaction
from app.store.ids import first_id_at, new_id
from app.store.outcome import Outcome
from app.store.tables import DiagnosisRow, ReclassificationRow, ReclassifiedRow

_Columns = TypeVarTuple("_Columns")
Row = ReclassificationRow
_DONE = DiagnosisRow.status == "complete"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which diagnoses a run is about; None lets all through. Times are seconds since the epoch."""

    cause: str | None = None
    cluster: str | None = None
    job_id: str | None = None
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One reclassification; `status` is running, complete, cancelled or failed.

    `from_kept` were judged from what was kept, `from_logs` from their logs, `unread` could not be.
    """

    id: str
    created_at: float
    finished_at: float | None
    status: str
    applies: bool
    chosen: Chosen
    rules: str | None
    total: int
    done: int
    from_kept: int
    from_logs: int
    unread: int
    last_id: str | None
    fault: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """A verdict that came out otherwise."""

    diagnosis_id: str
    cause_before: str | None
    cause: str | None
    action_before: str | None
    action: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """What judging some diagnoses again has come to; `outcomes` are those of the changes."""

    last_id: str
    rules: str
    from_kept: int
    from_logs: int
    unread: int
    changes: tuple[Change, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def count(self) -> int:
        """How many it was about."""
        return self.from_kept + self.from_logs + self.unread


class Reclassifications:
    """The tables of runs; all calls block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, chosen: Chosen, *, applies: bool) -> Run:
        """Add a run over what is complete now."""
        id = new_id("rc")
        with transaction(self._engine, writes=True) as connection:
            count = select(func.count()).select_from(DiagnosisRow)
            total = connection.execute(narrowed(count, chosen)).scalar_one()
            row = {
                "id": id, "created_at": time.time(), "status": "running", "applies": applies,
                "chosen": json.dumps(asdict(chosen)), "total": total,
                "done": 0, "from_kept": 0, "from_logs": 0, "unread": 0,
            }  # fmt: skip
            connection.execute(insert(Row), row)
            return _run(connection, id)

    def find(self, id: str) -> Run:
        """Read one; raise NotFound."""
        with transaction(self._engine) as connection:
            return _run(connection, id)

    def page(self, limit: int) -> list[Run]:
        """List the newest."""
        with transaction(self._engine) as connection:
            query = select(Row.id).order_by(Row.id.desc()).limit(limit)
            return [_run(connection, id) for id in connection.execute(query).scalars().all()]

    def unfinished(self) -> list[str]:
        """Name those that run."""
        with transaction(self._engine) as connection:
            return list(connection.execute(select(Row.id).where(Row.status == "running")).scalars())

    def ids(self, run: Run, after: str | None, most: int) -> list[str]:
        """Name the next diagnoses of a run."""
        query = narrowed(select(DiagnosisRow.id), run.chosen).order_by(DiagnosisRow.id).limit(most)
        query = query.where(DiagnosisRow.id < first_id_at(run.created_at + 0.001))
        query = query.where(DiagnosisRow.id > after) if after else query
        with transaction(self._engine) as connection:
            return list(connection.execute(query).scalars())

    def take(self, id: str, before: str | None, chunk: Chunk) -> bool:
        """Write a chunk whose run had come to `before`; False where it is written or stopped."""
        same = [Row.id == id, Row.status == "running", Row.last_id.is_not_distinct_from(before)]
        step = {
            "last_id": chunk.last_id, "rules": chunk.rules, "done": Row.done + chunk.count,
            "from_kept": Row.from_kept + chunk.from_kept,
            "from_logs": Row.from_logs + chunk.from_logs, "unread": Row.unread + chunk.unread,
        }  # fmt: skip
        with transaction(self._engine, writes=True) as connection:
            if not connection.execute(update(Row).where(*same).values(step)).rowcount:
                return False
            for change in chunk.changes:
                row = {"reclassification_id": id, **asdict(change)}
                connection.execute(insert(ReclassifiedRow), row)
            if _run(connection, id).applies:
                for change, outcome in zip(chunk.changes, chunk.outcomes, strict=True):
                    endings.replace(connection, change.diagnosis_id, outcome, f"{id}: {change.why}")
        return True

    def end(self, id: str, status: str, fault: str | None = None) -> None:
        """Note that a run has ended, unless it has already."""
        ended = {"status": status, "finished_at": time.time(), "fault": fault}
        with transaction(self._engine, writes=True) as connection:
            running = update(Row).where(Row.id == id, Row.status == "running")
            connection.execute(running.values(ended))

    def changes(self, id: str, after: str | None, limit: int) -> Sequence[Change]:
        """List what came out otherwise, in the order of the diagnoses."""
        names = [getattr(ReclassifiedRow, field.name) for field in fields(Change)]
        query = select(*names).where(ReclassifiedRow.reclassification_id == id)
        query = query.where(ReclassifiedRow.diagnosis_id > after) if after else query
        with transaction(self._engine) as connection:
            rows = connection.execute(query.order_by(ReclassifiedRow.diagnosis_id).limit(limit))
            return [Change(**row._mapping) for row in rows]


def narrowed(query: Select[*_Columns], chosen: Chosen) -> Select[*_Columns]:
    """Narrow a query over complete diagnoses to those that are chosen."""
    conditions: list[Condition[bool]] = [_DONE]
    for name in ("cause", "cluster", "job_id"):
        if (value := getattr(chosen, name)) is not None:
            conditions.append(getattr(DiagnosisRow, name) == value)
    if chosen.since is not None:
        conditions.append(DiagnosisRow.id >= first_id_at(chosen.since))
    if chosen.until is not None:
        conditions.append(DiagnosisRow.id < first_id_at(chosen.until))
    return query.where(*conditions)


def _run(connection: Connection, id: str) -> Run:
    names = [field.name for field in fields(Run)]
    query = select(*(getattr(Row, name) for name in names)).where(Row.id == id)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"there is no reclassification {id[:64]!r}")
    return Run(**{**row._mapping, "chosen": Chosen(**json.loads(row.chosen))})
