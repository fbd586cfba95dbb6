"""Keep runs over stored diagnoses or logs: what was chosen, how far each is, what changed.

A chunk's outcome and how far the run has come by it are written in one transaction, so a run that
was killed goes on where it was, and no verdict is counted or replaced twice. What a run may spend
on a model is drawn from its row before each call, so it holds over all processes and over kills.
All calls block.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace
from typing import TypeVarTuple

from sqlalchemy import ColumnElement as Condition
from sqlalchemy import Connection, Engine, Select, func, insert, or_, select, true, update

from app.errors import NotFound, UsageError
from app.store import endings
from app.store.database import transaction
from app.store.ids import first_id_at, is_id, new_id
from app.store.run import Asks, Change, Chosen, Chunk, Driver, Listed, Run
from app.store.tables import DiagnosisRow, IncidentRow, ReclassificationRow, ReclassifiedRow

_Columns = TypeVarTuple("_Columns")
Row = ReclassificationRow
_AT_ONCE = 1000
_COUNTS = ("from_kept", "from_logs", "unread", "asked", "unheard")


class Reclassifications:
    """The tables of runs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(
        self,
        chosen: Chosen,
        *,
        applies: bool,
        rules: str,
        driver: Driver = "service",
        asks: Asks | None = None,
        total: int | None = None,
    ) -> Run:
        """Add a run over what is complete now, or over so many logs."""
        id, now = new_id("rc"), time.time()
        with transaction(self._engine, writes=True) as connection:
            if total is None:
                count = select(func.count()).select_from(DiagnosisRow)
                total = connection.execute(count.where(*_narrow(chosen, now))).scalar_one()
            row = {
                "id": id, "created_at": now, "status": "running", "applies": applies,
                "chosen": json.dumps(asdict(chosen)), "driver": driver, "rules": rules,
                "asks": json.dumps(asdict(asks)) if asks else None, "total": total,
                "done": 0, "calls": 0, "tokens": 0, **dict.fromkeys(_COUNTS, 0),
            }  # fmt: skip
            connection.execute(insert(Row), row)
            return _run(connection, id)

    def find(self, id: str) -> Run:
        """Read one; raise NotFound."""
        with transaction(self._engine) as connection:
            return _run(connection, id)

    def is_running(self, id: str) -> bool:
        """Say whether one goes on, or is to."""
        query = select(Row.status).where(Row.id == id)
        with transaction(self._engine) as connection:
            return connection.execute(query).scalar() == "running"

    def page(self, limit: int) -> list[Run]:
        """List the newest."""
        with transaction(self._engine) as connection:
            query = select(Row.id).order_by(Row.id.desc()).limit(limit)
            return [_run(connection, id) for id in connection.execute(query).scalars().all()]

    def unfinished(self) -> list[str]:
        """Name those that run and that the service goes on with."""
        query = select(Row.id).where(Row.status == "running", Row.driver == "service")
        with transaction(self._engine) as connection:
            return list(connection.execute(query).scalars())

    def has_cause(self, cause: str) -> bool:
        """Say whether any diagnosis has it, as one may whose rule is gone since."""
        query = select(DiagnosisRow.id).where(DiagnosisRow.cause == cause).limit(1)
        with transaction(self._engine) as connection:
            return connection.execute(query).scalar() is not None

    def reopen(self, id: str) -> Run:
        """Have the command go on with a run that was broken off or has failed.

        Raises UsageError, NotFound.
        """
        again = update(Row).where(Row.id == id, Row.status == "failed")
        with transaction(self._engine, writes=True) as connection:
            connection.execute(
                again.values(status="running", finished_at=None, fault=None, driver="command")
            )
            run = _run(connection, id)
        if run.status != "running":
            raise UsageError(f"reclassification {id} is {run.status}: there is nothing to resume")
        return run

    def ids(self, run: Run, after: str | None, most: int) -> list[str]:
        """Name the next diagnoses of a run."""
        query = select(DiagnosisRow.id).where(*_narrow(run.chosen, run.created_at))
        query = query.where(DiagnosisRow.id > after) if after else query
        with transaction(self._engine) as connection:
            return list(connection.execute(query.order_by(DiagnosisRow.id).limit(most)).scalars())

    def take(self, id: str, before: str | None, chunk: Chunk) -> bool:
        """Write a chunk whose run had come to `before`; False where it is written or stopped.

        Where a later answer has come in since a verdict was judged again, that answer stays.
        """
        same = [Row.id == id, Row.status == "running", Row.last.is_not_distinct_from(before)]
        step: dict[str, object] = {"last": chunk.last, "done": Row.done + chunk.count}
        step |= {name: getattr(Row, name) + getattr(chunk, name) for name in _COUNTS}
        step |= {"note": chunk.note} if chunk.note else {}
        with transaction(self._engine, writes=True) as connection:
            if not connection.execute(update(Row).where(*same).values(step)).rowcount:
                return False
            changes = chunk.changes
            if _run(connection, id).applies:
                changes = _replaced(connection, id, chunk)
            changes += _with_present(connection, chunk.unjudged)
            rows = [{"reclassification_id": id, **asdict(change)} for change in changes]
            if rows:
                connection.execute(insert(ReclassifiedRow), rows)
        return True

    def draw(self, id: str, asks: Asks, tokens: int) -> bool:
        """Set aside a call of at most so many tokens; False where a run may not make it."""
        room = [
            Row.calls + 1 <= asks.calls if asks.calls else true(),
            Row.tokens + tokens <= asks.tokens if asks.tokens else true(),
        ]
        call = update(Row).where(Row.id == id, Row.status == "running", *room)
        step = call.values(calls=Row.calls + 1, tokens=Row.tokens + tokens)
        with transaction(self._engine, writes=True) as connection:
            return bool(connection.execute(step).rowcount)

    def give_back(self, id: str, tokens: int) -> None:
        """Return what a call was set aside for and did not take; less than 0 where it took more."""
        with transaction(self._engine, writes=True) as connection:
            connection.execute(update(Row).where(Row.id == id).values(tokens=Row.tokens - tokens))

    def end(self, id: str, status: str, fault: str | None = None) -> None:
        """Note that a run has ended, unless it has already."""
        ended = {"status": status, "finished_at": time.time(), "fault": fault}
        with transaction(self._engine, writes=True) as connection:
            running = update(Row).where(Row.id == id, Row.status == "running")
            connection.execute(running.values(ended))

    def changes(self, id: str, after: str | None, limit: int) -> Sequence[Change]:
        """List what came out otherwise, in the order of the diagnoses or logs."""
        names = [getattr(ReclassifiedRow, field.name) for field in fields(Change)]
        query = select(*names).where(ReclassifiedRow.reclassification_id == id)
        query = query.where(ReclassifiedRow.subject > after) if after else query
        with transaction(self._engine) as connection:
            rows = connection.execute(query.order_by(ReclassifiedRow.subject).limit(limit))
            return [Change(**row._mapping) for row in rows]

    def listed(self, id: str) -> Listed:
        """Count what `changes` lists."""
        counts = select(func.count(), func.count(ReclassifiedRow.cause))
        query = counts.where(ReclassifiedRow.reclassification_id == id)
        with transaction(self._engine) as connection:
            rows, changed = connection.execute(query).one()
        return Listed(changed, rows - changed)

    def every_change(self, id: str) -> Iterator[Change]:
        """Go through all of them, a part at a time."""
        after = None
        while part := self.changes(id, after, _AT_ONCE):
            yield from part
            after = part[-1].subject


def about(query: Select[*_Columns], run: Run) -> Select[*_Columns]:
    """Narrow a query over diagnoses to those of a run, also where it gave them another cause."""
    changed = select(ReclassifiedRow.subject).where(ReclassifiedRow.reclassification_id == run.id)
    own = true().self_group()
    for condition in _narrow(run.chosen, run.created_at):
        own = own & condition
    return query.where(or_(own, DiagnosisRow.id.in_(changed)))


def _narrow(chosen: Chosen, begun: float) -> list[Condition[bool]]:
    """Say which complete diagnoses are meant of those that were there when a run began."""
    conditions: list[Condition[bool]] = [
        DiagnosisRow.status == "complete",
        DiagnosisRow.id < first_id_at(begun + 0.001),
    ]
    for name in ("cause", "cluster", "job_id"):
        if (value := getattr(chosen, name)) is not None:
            conditions.append(getattr(DiagnosisRow, name) == value)
    if chosen.since is not None:
        conditions.append(DiagnosisRow.id >= first_id_at(chosen.since))
    if chosen.until is not None:
        conditions.append(DiagnosisRow.id < first_id_at(chosen.until))
    return conditions


def _replaced(connection: Connection, id: str, chunk: Chunk) -> tuple[Change, ...]:
    """Put the answers of a chunk in place; give the changes of which that was done."""
    done = []
    confirmed = _confirmed(connection, [change.subject for change in chunk.changes])
    for change, instead in zip(chunk.changes, chunk.instead, strict=True):
        if confirmed.get(change.subject) == change.cause_before != change.cause:
            continue  # somebody said so while it was judged
        why = f"{id}: {change.why}"
        subject, outcome = change.subject, instead.outcome
        if endings.replace(connection, subject, outcome, why, of=instead.revision) is not None:
            done.append(change)
    return tuple(done)


def _confirmed(connection: Connection, ids: Sequence[str]) -> dict[str, str]:
    query = select(IncidentRow.diagnosis_id, IncidentRow.cause).where(
        IncidentRow.confirmed_at.is_not(None), IncidentRow.diagnosis_id.in_(ids)
    )
    return {id: cause for id, cause in connection.execute(query)}


def _with_present(connection: Connection, changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Add to what could not be judged the answers that stay, where there are any."""
    query = select(DiagnosisRow.id, DiagnosisRow.cause, DiagnosisRow.action)
    ids = [change.subject for change in changes if is_id(change.subject)]
    stay = {id: found for id, *found in connection.execute(query.where(DiagnosisRow.id.in_(ids)))}
    return tuple(
        replace(change, cause_before=stay[change.subject][0], action_before=stay[change.subject][1])
        if change.subject in stay
        else change
        for change in changes
    )


def _run(connection: Connection, id: str) -> Run:
    names = [field.name for field in fields(Run)]
    query = select(*(getattr(Row, name) for name in names)).where(Row.id == id)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"there is no reclassification {id[:64]!r}")
    chosen = json.loads(row.chosen)
    chosen["logs"] = tuple(chosen.get("logs", ()))
    asks = Asks(**json.loads(row.asks)) if row.asks else None
    return Run(**{**row._mapping, "chosen": Chosen(**chosen), "asks": asks})
