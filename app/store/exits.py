"""Keep reports of job exits: which diagnosis each belongs to, and how its log looked.

The same webhook-id, or the same cluster, job and attempt, is the same diagnosis, however often and
in how many processes at once it is reported: the database holds both to be unique.
"""

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

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


class Exits:
    """Job exits in the table of diagnoses; all calls block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def accept(self, request: Request, webhook_id: str) -> Known:
        """Add a diagnosis that waits for its log, or give the one that is there already."""
        key = exit_key(request.job)
        row = {**row_of(request), "webhook_id": webhook_id, "exit_key": key}
        try:
            with transaction(self._engine, writes=True) as connection:
                if known := _find(connection, webhook_id, key):
                    return known
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
    same = [Row.webhook_id == webhook_id, *([Row.exit_key == key] if key else [])]
    row = connection.execute(select(Row.id, Row.status, Row.webhook_id).where(or_(*same))).first()
    return Known(row[0], row[1], row[2] or "", False) if row else None
