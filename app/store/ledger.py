"""What is known of a job or a host from all stored diagnoses.

A host name means something only within its cluster, so every question names one; what was reported
without a cluster is known under the empty name.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, RowMapping, func, select

from app.store.database import transaction
from app.store.tables import BlameRow
from app.store.tables import DiagnosisRow as Row

_AS_THEY_ARE = (
    "status", "cause", "action", "restart", "confidence", "summary", "fingerprint", "last_step",
    "created_at",
)  # fmt: skip
_MOST = 500  # attempts of one job, or diagnoses that name one host


@dataclass(frozen=True, slots=True)
class AttemptKept:
    """One attempt of a job with its present verdict; `last_step` is how far training came."""

    diagnosis_id: str
    attempt: int | None
    status: str
    cause: str | None
    action: str | None
    restart: bool | None
    confidence: str | None
    summary: str | None
    fingerprint: str | None
    last_step: int | None
    created_at: float
    started_at: float | None
    ended_at: float | None


@dataclass(frozen=True, slots=True)
class BlameKept:
    """One diagnosis that suspects a host."""

    diagnosis_id: str
    job_id: str | None
    cause: str
    is_hardware: bool
    created_at: float


@dataclass(frozen=True, slots=True)
class HostCount:
    """How often a host is suspected, and how many jobs failed on it for hardware reasons."""

    host: str
    diagnoses: int
    hardware_jobs: int


class Ledger:
    """Reads the tables of diagnoses and blames; all calls block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def attempts(self, cluster: str, job_id: str) -> list[AttemptKept]:
        """List the attempts of a job, the oldest first."""
        query = select(
            Row.id, Row.status, Row.cause, Row.action, Row.restart, Row.confidence, Row.summary,
            Row.fingerprint, Row.last_step, Row.created_at, Row.job,
        )  # fmt: skip
        query = query.where(func.coalesce(Row.cluster, "") == cluster, Row.job_id == job_id)
        with transaction(self._engine) as connection:
            rows = connection.execute(query.order_by(Row.id.desc()).limit(_MOST)).all()
        found = [_attempt(row._mapping) for row in rows]
        return sorted(found, key=lambda one: (one.attempt or 0, one.created_at))

    def blames(self, cluster: str, host: str) -> list[BlameKept]:
        """List the diagnoses that suspect a host, the newest first."""
        query = (
            select(
                BlameRow.diagnosis_id, Row.job_id, BlameRow.cause, BlameRow.is_hardware,
                Row.created_at,
            )
            .join(Row, Row.id == BlameRow.diagnosis_id)
            .where(func.coalesce(BlameRow.cluster, "") == cluster, BlameRow.host == host)
        )  # fmt: skip
        with transaction(self._engine) as connection:
            rows = connection.execute(query.order_by(Row.id.desc()).limit(_MOST)).all()
        return [BlameKept(**row._mapping) for row in rows]

    def hosts(self, cluster: str, least_hardware_jobs: int) -> Sequence[HostCount]:
        """List hosts on which so many different jobs failed for hardware reasons."""
        job = func.coalesce(Row.job_id, Row.id)
        of_hardware = func.count(func.distinct(func.nullif(job, ""))).filter(BlameRow.is_hardware)
        query = (
            select(BlameRow.host, func.count(), of_hardware)
            .join(Row, Row.id == BlameRow.diagnosis_id)
            .where(func.coalesce(BlameRow.cluster, "") == cluster)
            .group_by(BlameRow.host)
            .having(of_hardware >= least_hardware_jobs)
            .order_by(of_hardware.desc(), BlameRow.host)
        )
        with transaction(self._engine) as connection:
            return [HostCount(*row) for row in connection.execute(query.limit(_MOST)).all()]


def _attempt(row: RowMapping) -> AttemptKept:
    told = json.loads(row["job"])
    return AttemptKept(
        diagnosis_id=row["id"],
        attempt=told.get("attempt"),
        started_at=told.get("started_at"),
        ended_at=told.get("ended_at"),
        **{name: row[name] for name in _AS_THEY_ARE},
    )
