"""Keep past incidents: the truth that every index of them can be made from.

A diagnosis that completes becomes an incident in the same transaction; a person's word on it later
changes the cause that is remembered. All calls block and may be made from any thread.
"""

import json
from collections.abc import Collection, Mapping

from sqlalchemy import Connection, Engine, bindparam, func, insert, or_, select, tuple_, update
from sqlalchemy import Row as Found

from app.errors import NotFound
from app.incident import Changed, Confirmation, Incident, Snippet
from app.store.database import now, transaction
from app.store.outcome import Outcome
from app.store.tables import IncidentRow as Row

_AT_ONCE = 500  # parameters of one query; SQLite takes 32766, PostgreSQL 65535
_ADD = insert(Row)
_TELLS = or_(Row.cause != "Completed", Row.confirmed_at.is_not(None))
_CHANGED = select(Row.id, Row.snippet, Row.changed_at, Row.confirmed_at).where(_TELLS)
_FIND = select(
    Row.id, Row.diagnosis_id, Row.cause, Row.fingerprint, Row.snippet, Row.created_at,
    Row.cluster, Row.job_id, Row.job_type, Row.confirmed_by, Row.confirmed_at, Row.note,
)  # fmt: skip
_KEEP_VECTOR = (
    update(Row)
    .where(Row.id == bindparam("id_"))
    .values(embedder=bindparam("embedder_"), vector=bindparam("vector_"))
)


class Incidents:
    """The table of incidents."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, id: str) -> Incident:
        """Read one by its id or that of its diagnosis; raise NotFound."""
        query = _FIND.where(or_(Row.id == id[:32], Row.diagnosis_id == id[:32]))
        with transaction(self._engine) as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            raise NotFound(f"there is no incident {id[:64]!r}")
        return _incident(row)

    def confirm(self, id: str, by: str, note: str = "", cause: str | None = None) -> Incident:
        """Keep a person's word: the cause is right, or is this one; raise NotFound."""
        with transaction(self._engine) as connection:
            confirm(connection, id, by, note, cause)
        return self.find(id)

    def confirmed(self, diagnosis_ids: Collection[str]) -> Mapping[str, str]:
        """Give the causes that people confirmed or named, by diagnosis."""
        query = select(Row.diagnosis_id, Row.cause).where(Row.confirmed_at.is_not(None))
        with transaction(self._engine) as connection:
            rows = [
                row
                for part in _parts(diagnosis_ids)
                for row in connection.execute(query.where(Row.diagnosis_id.in_(part)))
            ]
        return {id: cause for id, cause in rows}

    def count(self) -> int:
        """Count those that a search may find."""
        with transaction(self._engine) as connection:
            return connection.execute(
                select(func.count()).select_from(Row).where(_TELLS)
            ).scalar_one()

    def changed(self, since: tuple[float, str], most: int) -> list[Changed]:
        """List what changed after a time and id, in that order."""
        later = tuple_(Row.changed_at, Row.id) > since
        query = _CHANGED.where(later).order_by(Row.changed_at, Row.id).limit(most)
        with transaction(self._engine) as connection:
            rows = connection.execute(query).all()
        return [Changed(row[0], _snippet(row[1]), row[2], row[3] is not None) for row in rows]

    def vectors(self, ids: Collection[str], space: str) -> Mapping[str, bytes]:
        """Give the vectors of that space that are kept."""
        query = select(Row.id, Row.vector).where(Row.embedder == space)
        found: dict[str, bytes] = {}
        with transaction(self._engine) as connection:
            for part in _parts(ids):
                for id, kept in connection.execute(query.where(Row.id.in_(part))):
                    found[id] = kept or b""
        return found

    def keep_vectors(self, space: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors in place of what there was."""
        rows = [
            {"id_": id, "embedder_": space, "vector_": vector} for id, vector in vectors.items()
        ]
        with transaction(self._engine) as connection:
            connection.execute(_KEEP_VECTOR, rows)

    def incidents(self, ids: Collection[str]) -> Mapping[str, Incident]:
        """Give the incidents that are there."""
        with transaction(self._engine) as connection:
            rows = [
                row
                for part in _parts(ids)
                for row in connection.execute(_FIND.where(Row.id.in_(part)))
            ]
        return {row.id: _incident(row) for row in rows}


def confirm(connection: Connection, id: str, by: str, note: str, cause: str | None) -> None:
    """Keep a person's word within a transaction; nothing happens where there is no incident."""
    at = now(connection)
    told: dict[str, object] = {"confirmed_by": by, "confirmed_at": at, "note": note}
    if cause is not None:
        told["cause"] = cause
    query = update(Row).where(or_(Row.id == id[:32], Row.diagnosis_id == id[:32]))
    connection.execute(query.values(changed_at=at, **told))


def remember(connection: Connection, diagnosis_id: str, outcome: Outcome, at: float) -> None:
    """Keep the incident of a diagnosis within the transaction that completes it.

    A later answer takes the place of the earlier one, unless a person has confirmed that; one
    that comes without lines gives the incident its cause alone.
    """
    told, changed_at = outcome.remembered, now(connection)
    if told is None:
        new = {"cause": outcome.cause, "fingerprint": outcome.fingerprint, "changed_at": changed_at}
        unconfirmed = (Row.diagnosis_id == diagnosis_id, Row.confirmed_at.is_(None))
        connection.execute(update(Row).where(*unconfirmed).values(new))
        return
    row = {
        "id": f"in_{diagnosis_id.partition('_')[2]}",
        "diagnosis_id": diagnosis_id,
        "cluster": told.job.cluster,
        "job_id": told.job.job_id,
        "job_type": told.job.job_type,
        "cause": outcome.cause,
        "fingerprint": told.fingerprint,
        "snippet": _lines(told.snippet),
        "created_at": at,
        "changed_at": changed_at,
    }
    of_this = Row.diagnosis_id == diagnosis_id
    known = connection.execute(select(Row.confirmed_at).where(of_this)).one_or_none()
    if known is None:
        connection.execute(_ADD, row)
    elif known[0] is None:
        row = {name: row[name] for name in ("cause", "fingerprint", "snippet", "changed_at")}
        connection.execute(update(Row).where(of_this).values(**row, embedder=None, vector=None))


def _incident(
    row: Found[
        str, str, str, str, str, float,
        str | None, str | None, str | None, str | None, float | None, str | None,
    ],
) -> Incident:  # fmt: skip
    by, at, note = row[9], row[10], row[11]
    return Incident(
        id=row[0],
        diagnosis_id=row[1],
        cause=row[2],
        fingerprint=row[3],
        snippet=_snippet(row[4]),
        created_at=row[5],
        cluster=row[6],
        job_id=row[7],
        job_type=row[8],
        confirmed=Confirmation(by or "", at, note or "") if at is not None else None,
    )


def _lines(snippet: Snippet) -> str:
    return json.dumps(snippet.lines, ensure_ascii=False)


def _snippet(text: str) -> Snippet:
    return Snippet(tuple(json.loads(text)))


def _parts(ids: Collection[str]) -> list[list[str]]:
    ordered = sorted(ids)
    return [ordered[at : at + _AT_ONCE] for at in range(0, len(ordered), _AT_ONCE)]
