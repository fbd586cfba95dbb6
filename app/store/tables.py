"""The tables, in types that SQLite and PostgreSQL both know.

Times are seconds since the epoch. What is only ever handed back whole (the job, the answer) is
kept as JSON text; what is searched for has a column.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Double,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Table(DeclarativeBase):
    """The root of all tables."""


class DiagnosisRow(Table):
    """One accepted request with its present answer.

    `status` goes from `waiting` (for its log) and `queued` to `complete` or `failed`. `exit_key`
    and `webhook_id` are what makes a report of a job's exit the same as an earlier one. `revision`
    counts the answers; those before the present one are kept as past verdicts.
    """

    __tablename__ = "diagnoses"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    status: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[float] = mapped_column(Double)
    finished_at: Mapped[float | None] = mapped_column(Double)
    job_id: Mapped[str | None] = mapped_column(String(256))
    job: Mapped[str] = mapped_column(Text)
    sources: Mapped[str] = mapped_column(Text)
    cause: Mapped[str | None] = mapped_column(String(64))
    domain: Mapped[str | None] = mapped_column(String(64))
    confidence: Mapped[str | None] = mapped_column(String(16))
    action: Mapped[str | None] = mapped_column(String(32))
    summary: Mapped[str | None] = mapped_column(Text)
    fault_kind: Mapped[str | None] = mapped_column(String(64))
    fault_status: Mapped[int | None] = mapped_column(Integer)
    fault_detail: Mapped[str | None] = mapped_column(Text)
    answer: Mapped[str | None] = mapped_column(Text)
    digest: Mapped[str | None] = mapped_column(Text)
    callback_url: Mapped[str | None] = mapped_column(Text)
    cluster: Mapped[str | None] = mapped_column(String(256))
    exit_key: Mapped[str | None] = mapped_column(String(64), unique=True)
    webhook_id: Mapped[str | None] = mapped_column(String(256), unique=True)
    log_state: Mapped[str | None] = mapped_column(String(64))
    method: Mapped[str | None] = mapped_column(String(16))
    rules: Mapped[str | None] = mapped_column(String(80))
    fingerprint: Mapped[str | None] = mapped_column(String(64))
    restart: Mapped[bool | None] = mapped_column(Boolean)
    last_step: Mapped[int | None] = mapped_column(BigInteger)
    revision: Mapped[int] = mapped_column(Integer, server_default="1")
    request_id: Mapped[str | None] = mapped_column(String(64))

    __table_args__ = (
        Index("ix_diagnoses_status", "status"),
        Index("ix_diagnoses_job_id", "job_id", "id"),
        Index("ix_diagnoses_cause", "cause", "id"),
        Index("ix_diagnoses_cluster", "cluster", "job_id", "id"),
    )


class PastVerdictRow(Table):
    """An answer that another one has replaced, and why."""

    __tablename__ = "past_verdicts"

    diagnosis_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    revision: Mapped[int] = mapped_column(Integer, primary_key=True)
    finished_at: Mapped[float] = mapped_column(Double)
    replaced_at: Mapped[float] = mapped_column(Double)
    why: Mapped[str] = mapped_column(String(256))
    cause: Mapped[str | None] = mapped_column(String(64))
    action: Mapped[str | None] = mapped_column(String(32))
    method: Mapped[str | None] = mapped_column(String(16))
    rules: Mapped[str | None] = mapped_column(String(80))
    answer: Mapped[str | None] = mapped_column(Text)
    digest: Mapped[str | None] = mapped_column(Text)


class BlameRow(Table):
    """A host that a diagnosis suspects; `is_hardware` where it advises to take the host out."""

    __tablename__ = "blames"

    diagnosis_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    host: Mapped[str] = mapped_column(String(256), primary_key=True)
    cluster: Mapped[str | None] = mapped_column(String(256))
    cause: Mapped[str] = mapped_column(String(64))
    is_hardware: Mapped[bool] = mapped_column(Boolean)

    __table_args__ = (Index("ix_blames_host", "cluster", "host", "diagnosis_id"),)


class ExecutorRow(Table):
    """One process that does durable work."""

    __tablename__ = "executors"

    id: Mapped[str] = mapped_column(String(256), primary_key=True)
    seen_at: Mapped[float] = mapped_column(Double)


class CallRow(Table):
    """One request to a language model; `day` is that of `at` in UTC, for the sums."""

    __tablename__ = "model_calls"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    day: Mapped[str] = mapped_column(String(10))
    at: Mapped[float] = mapped_column(Double)
    diagnosis_id: Mapped[str | None] = mapped_column(String(32))
    purpose: Mapped[str] = mapped_column(String(64))
    prompt: Mapped[str] = mapped_column(String(64))
    prompt_version: Mapped[int] = mapped_column(Integer)
    model: Mapped[str] = mapped_column(String(256))
    rung: Mapped[str] = mapped_column(String(16))
    outcome: Mapped[str] = mapped_column(String(16))
    tokens_in: Mapped[int] = mapped_column(Integer)
    tokens_out: Mapped[int] = mapped_column(Integer)
    seconds: Mapped[float] = mapped_column(Double)
    cost: Mapped[float] = mapped_column(Double)

    __table_args__ = (
        Index("ix_model_calls_day", "day"),
        Index("ix_model_calls_diagnosis_id", "diagnosis_id"),
    )


class CallTotalRow(Table):
    """What all calls took that were for one purpose and ended alike, kept or deleted by now."""

    __tablename__ = "model_call_totals"

    purpose: Mapped[str] = mapped_column(String(64), primary_key=True)
    outcome: Mapped[str] = mapped_column(String(16), primary_key=True)
    calls: Mapped[int] = mapped_column(BigInteger)
    tokens_in: Mapped[int] = mapped_column(BigInteger)
    tokens_out: Mapped[int] = mapped_column(BigInteger)
    seconds: Mapped[float] = mapped_column(Double)
    cost: Mapped[float] = mapped_column(Double)


class IncidentRow(Table):
    """One past failure; `snippet` is a JSON list of lines, `vector` 32-bit floats in `embedder`."""

    __tablename__ = "incidents"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    diagnosis_id: Mapped[str] = mapped_column(String(32), unique=True)
    cluster: Mapped[str | None] = mapped_column(String(256))
    job_id: Mapped[str | None] = mapped_column(String(256))
    job_type: Mapped[str | None] = mapped_column(String(256))
    cause: Mapped[str] = mapped_column(String(64))
    fingerprint: Mapped[str] = mapped_column(String(64))
    snippet: Mapped[str] = mapped_column(Text)
    confirmed_by: Mapped[str | None] = mapped_column(String(256))
    confirmed_at: Mapped[float | None] = mapped_column(Double)
    note: Mapped[str | None] = mapped_column(Text)
    embedder: Mapped[str | None] = mapped_column(String(128))
    vector: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[float] = mapped_column(Double)
    changed_at: Mapped[float] = mapped_column(Double)

    __table_args__ = (
        Index("ix_incidents_changed_at", "changed_at", "id"),
        Index("ix_incidents_fingerprint", "fingerprint"),
    )


class DeliveryRow(Table):
    """One message to one listener, from `pending` to `sent` or `dead`."""

    __tablename__ = "deliveries"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    diagnosis_id: Mapped[str] = mapped_column(String(32))
    revision: Mapped[int] = mapped_column(Integer)
    listener: Mapped[str] = mapped_column(String(64))
    url: Mapped[str] = mapped_column(Text)
    form: Mapped[str] = mapped_column(String(16))
    status: Mapped[str] = mapped_column(String(16))
    tries: Mapped[int] = mapped_column(Integer)
    last_error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[float] = mapped_column(Double)
    ended_at: Mapped[float | None] = mapped_column(Double)

    __table_args__ = (
        UniqueConstraint("diagnosis_id", "revision", "listener", name="uq_deliveries"),
        Index("ix_deliveries_status", "status"),
    )


class KeptLogRow(Table):
    """A compressed log, as it was scanned under `rules`."""

    __tablename__ = "kept_logs"

    diagnosis_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    rules: Mapped[str] = mapped_column(String(80))
    data: Mapped[bytes] = mapped_column(LargeBinary)


class ScanRow(Table):
    """All patterns that a version of the rules looks for, in their order; a JSON list."""

    __tablename__ = "scans"

    rules: Mapped[str] = mapped_column(String(80), primary_key=True)
    patterns: Mapped[str] = mapped_column(Text)


class ReclassificationRow(Table):
    """One run over stored diagnoses or logs, in their order up to `last`; JSON where no column."""

    __tablename__ = "reclassifications"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    created_at: Mapped[float] = mapped_column(Double)
    finished_at: Mapped[float | None] = mapped_column(Double)
    status: Mapped[str] = mapped_column(String(16))
    applies: Mapped[bool] = mapped_column(Boolean)
    chosen: Mapped[str] = mapped_column(Text)
    driver: Mapped[str] = mapped_column(String(16))
    rules: Mapped[str | None] = mapped_column(String(80))
    asks: Mapped[str | None] = mapped_column(Text)
    total: Mapped[int] = mapped_column(Integer)
    done: Mapped[int] = mapped_column(Integer)
    from_kept: Mapped[int] = mapped_column(Integer)
    from_logs: Mapped[int] = mapped_column(Integer)
    unread: Mapped[int] = mapped_column(Integer)
    asked: Mapped[int] = mapped_column(Integer)
    unheard: Mapped[int] = mapped_column(Integer)
    calls: Mapped[int] = mapped_column(Integer)
    tokens: Mapped[int] = mapped_column(BigInteger)
    last: Mapped[str | None] = mapped_column(Text)
    note: Mapped[str | None] = mapped_column(Text)
    fault: Mapped[str | None] = mapped_column(Text)


class ReclassifiedRow(Table):
    """A verdict that came out otherwise; `subject` is the id of a diagnosis, or a log."""

    __tablename__ = "reclassified"

    reclassification_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    cause_before: Mapped[str | None] = mapped_column(String(64))
    cause: Mapped[str | None] = mapped_column(String(64))
    domain: Mapped[str | None] = mapped_column(String(64))
    action_before: Mapped[str | None] = mapped_column(String(32))
    action: Mapped[str | None] = mapped_column(String(32))
    by_model: Mapped[bool] = mapped_column(Boolean)
    why: Mapped[str] = mapped_column(Text)
