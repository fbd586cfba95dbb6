"""Keep reports of job exits: which diagnosis each belongs to, and how its log looked.

The same webhook-id, or the same cluster, job and attempt, is the same diagnosis, however often and
in how many processes at once it is reported: the database holds both to be unique.
"""

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from app.errors import Busy
from app.model import Job
from app.store.database import transaction
from app.store.diagnoses import Request, row_of
from app.store.tables import DiagnosisRow as Row


@dataclass(frozen=True, slots=True)
class Known:
    """The diagnosis that a report belongs to; `is_new` where the report made it."""

    id: str
    status: str
    webhook_id: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class Room:
    """How many diagnoses may be queued, and how many may wait for their logs beside those."""

    queued: int
    waiting: int


class Exits:
    """Job exits in the table of diagnoses; all calls block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def accept(self, request: Request, webhook_id: str, room: Room) -> Known:
        """Add a diagnosis, or give the one that is there already, whether there is room or not.

        Raises Busy where there is none for another.
        """
        key = exit_key(request.job)
        row = {**row_of(request), "webhook_id": webhook_id, "exit_key": key}
        try:
            with transaction(self._engine, writes=True) as connection:
                if known := _find(connection, webhook_id, key):
                    return known
                _find_room(connection, request.status, room)
                connection.execute(insert(Row), row)
        except IntegrityError:  # another process was faster
            with transaction(self._engine) as connection:
                if known := _find(connection, webhook_id, key):
                    return known
            raise
        return Known(request.id, request.status, webhook_id, True)

    def settle(self, id: str, log_state: str) -> None:
        """Note how the log looked when it was given to be read, and that it may be."""
        with transaction(self._engine, writes=True) as connection:
            connection.execute(update(Row).where(Row.id == id).values(log_state=log_state))
            waiting = update(Row).where(Row.id == id, Row.status == "waiting")
            connection.execute(waiting.values(status="queued"))

    def log_state(self, id: str) -> str | None:
        """Tell how it looked."""
        with transaction(self._engine) as connection:
            return connection.execute(select(Row.log_state).where(Row.id == id)).scalar()


def exit_key(job: Job) -> str | None:
    """Name one attempt of one job; None where the report does not say which job it was."""
    if job.job_id is None:
        return None
    named = "\0".join((job.cluster or "", job.job_id, str(job.attempt or 0)))
    return hashlib.sha256(named.encode()).hexdigest()


def _find(connection: Connection, webhook_id: str, key: str | None) -> Known | None:
    """Find what was reported by this very message, else what is the same attempt of the job."""
    same = [Row.webhook_id == webhook_id, *([Row.exit_key == key] if key else [])]
    query = select(Row.id, Row.status, Row.webhook_id).where(or_(*same))
    rows = connection.execute(query).all()
    found = max(rows, key=lambda row: row[2] == webhook_id, default=None)
    return Known(found[0], found[1], found[2] or "", False) if found else None


def _find_room(connection: Connection, status: str, room: Room) -> None:
    counted = select(Row.status, func.count()).where(Row.status.in_(("queued", "waiting")))
    rows = connection.execute(counted.group_by(Row.status)).all()
    count = {"queued": 0, "waiting": 0, **{row[0]: row[1] for row in rows}}
    if count["queued"] >= room.queued:
        raise Busy(f"{count['queued']} diagnoses are waiting already; try again later")
    if status == "waiting" and count["waiting"] >= room.waiting:
        raise Busy(f"{count['waiting']} logs of reported exits are waited for; try again later")
