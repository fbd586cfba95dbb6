"""Keep diagnoses: what was asked and what was answered.

Which of the queued ones is running just now, only the process knows that runs it. All calls block
and may be made from any thread. Each is one transaction, so a diagnosis that was added is there
after a crash, and a finished one has its answer and its status together.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeVarTuple

import structlog
from sqlalchemy import Engine, Select, bindparam, func, insert, select
from sqlalchemy import Row as Found

from app.errors import NotFound, NotReady
from app.model import Job
from app.store import endings
from app.store.database import transaction
from app.store.ids import accepted_at, first_id_at, is_id
from app.store.outcome import Fault, Outcome
from app.store.tables import DiagnosisRow as Row

_Columns = TypeVarTuple("_Columns")

# Built once: SQLAlchemy takes longer to build a statement than SQLite to run it.
_BY_ID = Row.id == bindparam("id_")
_ADD = insert(Row)
_FIND = select(
    Row.id, Row.status, Row.created_at, Row.job, Row.answer,
    Row.fault_kind, Row.fault_status, Row.fault_detail, Row.revision, Row.callback_url,
).where(_BY_ID)  # fmt: skip
_DIGEST = select(Row.status, Row.digest).where(_BY_ID)
_ENTRIES = select(
    Row.id, Row.status, Row.created_at, Row.finished_at, Row.job,
    Row.cause, Row.domain, Row.confidence, Row.action, Row.summary,
)  # fmt: skip
_WAITS = Row.status.in_(("queued", "waiting"))
_ASKED = select(Row.id, Row.job, Row.sources, Row.status, Row.request_id)
_UNFINISHED = _ASKED.where(_WAITS).order_by(Row.id)
_REQUEST = _ASKED.where(_BY_ID)
_PRESENT = select(
    Row.id, Row.job, Row.sources, Row.status, Row.cause, Row.action, Row.restart, Row.method,
    Row.revision,
)  # fmt: skip
_QUEUED = select(func.count()).select_from(Row).where(Row.status == "queued")
_BACKLOG = select(Row.status, func.count(), func.min(Row.id)).where(_WAITS).group_by(Row.status)


@dataclass(frozen=True, slots=True)
class Upload:
    """A log that was sent to us, named by its content."""

    sha256: str


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder below a log root, with every link resolved."""

    path: str


Origin = Upload | Place


def _request_id() -> str | None:
    found = structlog.contextvars.get_contextvars().get("request_id")
    return str(found) if found else None


@dataclass(frozen=True, slots=True)
class Request:
    """One diagnosis that was asked for.

    `request_id` is that of the HTTP request that is being served, unless it is told.
    """

    id: str
    job: Job
    origins: tuple[Origin, ...]
    status: str = "queued"
    callback_url: str | None = None
    request_id: str | None = field(default_factory=_request_id)


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one diagnosis; `answer` is its JSON where it is complete."""

    id: str
    status: str
    created_at: float
    job: str
    answer: str | None
    fault: Fault | None
    revision: int = 1
    callback_url: str | None = None


@dataclass(frozen=True, slots=True)
class Present:
    """What was asked, and what the present answer comes to."""

    request: Request
    cause: str | None
    action: str | None
    restart: bool | None
    method: str | None
    revision: int = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A diagnosis in a list."""

    id: str
    status: str
    created_at: float
    finished_at: float | None
    job: str
    cause: str | None
    domain: str | None
    confidence: str | None
    action: str | None
    summary: str | None


class Diagnoses:
    """The table of diagnoses."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, request: Request) -> None:
        """Accept a request; once this returns it survives a crash."""
        with transaction(self._engine, writes=True) as connection:
            connection.execute(_ADD, row_of(request))

    def finish(self, id: str, result: Outcome | Fault) -> bool:
        """Keep how it ended; what has ended before stays as it is."""
        with transaction(self._engine, writes=True) as connection:
            return endings.finish(connection, id, result)

    def replace(self, id: str, outcome: Outcome, why: str, of: int | None = None) -> int | None:
        """Keep a later answer in the place of revision `of`, or of the present one.

        Gives its revision, None where nothing was replaced.
        """
        with transaction(self._engine, writes=True) as connection:
            return endings.replace(connection, id, outcome, why, of=of)

    def find(self, id: str) -> Record:
        """Read one; raise NotFound."""
        row = self._one(_FIND, id)
        fault = Fault(row[5], row[6], row[7] or "") if row[5] and row[6] else None
        return Record(row[0], row[1], row[2], row[3], row[4], fault, row[8], row[9])

    def digest(self, id: str) -> str:
        """Read the digest of one; raise NotReady or NotFound where there is none."""
        row = self._one(_DIGEST, id)
        if row[0] in ("queued", "waiting"):
            raise NotReady(f"diagnosis {id} has not ended, and has no digest yet")
        if row[1] is None:
            raise NotFound(f"diagnosis {id} has failed and has no digest")
        return row[1]

    def page(
        self,
        *,
        job_id: str | None = None,
        cause: str | None = None,
        since: float | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> list[Entry]:
        """List the newest first; `before` is the last id of the page above."""
        query = _ENTRIES
        if job_id is not None:
            query = query.where(Row.job_id == job_id)
        if cause is not None:
            query = query.where(Row.cause == cause)
        if since is not None:
            query = query.where(Row.id >= first_id_at(since))
        if before is not None:
            query = query.where(Row.id < before)
        with transaction(self._engine) as connection:
            rows = connection.execute(query.order_by(Row.id.desc()).limit(limit)).all()
        return [Entry(**row._mapping) for row in rows]

    def unfinished(self) -> list[Request]:
        """List what was accepted and has not ended, oldest first."""
        with transaction(self._engine) as connection:
            rows = connection.execute(_UNFINISHED).all()
        return list(map(_request, rows))

    def count_queued(self) -> int:
        """Count those that are read or wait for it, not those whose log is waited for."""
        with transaction(self._engine) as connection:
            return connection.execute(_QUEUED).scalar_one()

    def backlog(self) -> dict[str, tuple[int, float]]:
        """Count them by status, each with when the oldest was accepted."""
        with transaction(self._engine) as connection:
            rows = connection.execute(_BACKLOG).all()
        return {row[0]: (row[1], accepted_at(row[2])) for row in rows}

    def request(self, id: str) -> Request | None:
        """Read what was asked, None where that is not known."""
        with transaction(self._engine) as connection:
            row = connection.execute(_REQUEST, {"id_": id}).one_or_none()
        return _request(row) if row else None

    def present(self, ids: Sequence[str]) -> list[Present]:
        """Give what is known of these, in the order of their ids."""
        query = _PRESENT.where(Row.id.in_(ids)).order_by(Row.id)
        with transaction(self._engine) as connection:
            rows = connection.execute(query).all()
        return [Present(Request(r[0], _job(r[1]), _origins(r[2]), r[3]), *r[4:]) for r in rows]

    def is_unfinished(self, id: str) -> bool:
        """Say whether an answer is still to come."""
        request = self.request(id)
        return request is not None and request.status in ("queued", "waiting")

    def check(self) -> None:
        """Raise StoreError where the table cannot be read."""
        with transaction(self._engine) as connection:
            connection.execute(select(func.max(Row.id))).one()

    def _one(self, query: Select[*_Columns], id: str) -> Found[*_Columns]:
        row = None
        if is_id(id):
            with transaction(self._engine) as connection:
                row = connection.execute(query, {"id_": id}).one_or_none()
        if row is None:
            raise NotFound(f"there is no diagnosis {id[:64]!r}")
        return row


def row_of(request: Request) -> dict[str, object]:
    """Give the columns of a request that has just come in."""
    return {
        "id": request.id,
        "status": request.status,
        "created_at": time.time(),
        "callback_url": request.callback_url,
        "request_id": request.request_id,
        "cluster": request.job.cluster,
        "job_id": request.job.job_id,
        "job": _job_text(request.job),
        "sources": json.dumps([asdict(origin) for origin in request.origins]),
    }


def _request(row: Found[str, str, str, str, str | None]) -> Request:
    id, job, origins, status, request_id = row
    return Request(id, _job(job), _origins(origins), status, request_id=request_id)


def _job_text(job: Job) -> str:
    known = {name: value for name, value in asdict(job).items() if value not in (None, ())}
    return json.dumps(known, ensure_ascii=False)


def _job(text: str) -> Job:
    fields = json.loads(text)
    return Job(**{**fields, "nodes": tuple(fields.get("nodes", ()))})


def _origins(text: str) -> tuple[Origin, ...]:
    parts: Sequence[dict[str, str]] = json.loads(text)
    return tuple(Upload(**part) if "sha256" in part else Place(**part) for part in parts)
