"""Delete what has grown old, some rows at a time.

Each call is one short transaction, so nobody waits long behind it, and gives how many rows went:
0 says that nothing is left to delete. Whoever is faster of two processes takes a row; the other
passes over it. All calls block. `before` is in seconds since the epoch.

A diagnosis on which a person has given a word is spoken for: its answer, its history, what was
kept of its log and its incident stay for ever. By these written rules are tried.
"""

from sqlalchemy import ColumnElement as Condition
from sqlalchemy import Connection, Engine, delete, exists, or_, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from app.store.calls import day_of
from app.store.database import transaction
from app.store.feedback_tables import FeedbackRow
from app.store.ids import first_id_at
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
    Table,
)

_BELONGING = (PastVerdictRow, KeptLogRow, BlameRow, DeliveryRow, IncidentRow)


class Retention:
    """What may be deleted of all tables."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def past_verdicts(self, before: float, most: int) -> int:
        """Delete answers that were replaced before then."""
        of = PastVerdictRow.diagnosis_id  # accepted earlier still, and the key is ordered by that
        old = (of < first_id_at(before), PastVerdictRow.replaced_at < before, ~_is_spoken_for(of))
        return self._delete(PastVerdictRow, most, *old)

    def kept_logs(self, before: float, most: int) -> int:
        """Delete what was kept of the logs of diagnoses that were accepted before then."""
        of = KeptLogRow.diagnosis_id
        return self._delete(KeptLogRow, most, of < first_id_at(before), ~_is_spoken_for(of))

    def deliveries(self, before: float, most: int) -> int:
        """Delete messages that were sent or given up before then."""
        row = DeliveryRow
        old = (row.id < first_id_at(before, "dl"), row.ended_at < before, row.status != "pending")
        return self._delete(row, most, *old)

    def calls(self, before: float, most: int) -> int:
        """Delete calls to models of the days before that one, so each day's sum is whole or 0."""
        return self._delete(CallRow, most, CallRow.day < day_of(before))

    def reclassifications(self, before: float, most: int) -> int:
        """Delete runs that ended before then, what they changed first."""
        run = ReclassificationRow
        ended = (run.status != "running", run.finished_at < before)
        with transaction(self._engine, writes=True) as connection:
            old = [key[0] for key in _keys(connection, run, most, *ended)]
            of = ReclassifiedRow.reclassification_id
            if gone := _deleted(connection, ReclassifiedRow, most, of.in_(old)):
                return gone
            return _deleted(connection, run, most, run.id.in_(old))

    def results(self, before: float, most: int) -> int:
        """Delete diagnoses that ended before then, with all that belongs to them.

        Those of which a listener is still to be told wait for that.
        """
        row = DiagnosisRow
        told = exists().where(DeliveryRow.diagnosis_id == row.id, DeliveryRow.status == "pending")
        old = (
            row.id < first_id_at(before),
            row.status.not_in(("queued", "waiting")),
            row.finished_at < before,
            ~_is_spoken_for(row.id),
            ~told,
        )
        with transaction(self._engine, writes=True) as connection:
            ids = [key[0] for key in _keys(connection, row, most, *old)]
            # Nobody can speak of these any more, but may have until they were locked.
            spoken = select(row.id).where(row.id.in_(ids), _is_spoken_for(row.id))
            gone = set(ids) - set(connection.execute(spoken).scalars())
            for table in _BELONGING:
                connection.execute(delete(table).where(table.diagnosis_id.in_(gone)))
            connection.execute(delete(row).where(row.id.in_(gone)))
        return len(gone)

    def _delete(self, table: type[Table], most: int, *old: Condition[bool]) -> int:
        with transaction(self._engine, writes=True) as connection:
            return _deleted(connection, table, most, *old)


def _is_spoken_for(id: InstrumentedAttribute[str]) -> Condition[bool]:
    incident = exists().where(IncidentRow.diagnosis_id == id, IncidentRow.confirmed_at.is_not(None))
    return or_(exists().where(FeedbackRow.diagnosis_id == id), incident)


def _deleted(connection: Connection, table: type[Table], most: int, *old: Condition[bool]) -> int:
    keys = _keys(connection, table, most, *old)
    if keys:
        connection.execute(delete(table).where(tuple_(*_key(table)).in_(keys)))
    return len(keys)


def _keys(
    connection: Connection, table: type[Table], most: int, *old: Condition[bool]
) -> list[tuple[object, ...]]:
    """Name some rows; on PostgreSQL nobody else changes them before this transaction ends.

    They come as an index gives them: to sort all that is old, for each few of it, would take hours.
    """
    query = select(*_key(table)).where(*old).limit(most)
    rows = connection.execute(query.with_for_update(skip_locked=True, of=table)).all()
    return [tuple(row) for row in rows]


def _key(table: type[Table]) -> list[Condition[object]]:
    return list(table.__table__.primary_key)
