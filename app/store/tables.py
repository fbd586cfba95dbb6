"""The tables, in types that SQLite and PostgreSQL both know.

Times are seconds since the epoch. What is only ever handed back whole (the job, the answer) is
kept as JSON text; what is searched for has a column.
"""

from sqlalchemy import Double, Index, Integer, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Table(DeclarativeBase):
    """The root of all tables."""


class DiagnosisRow(Table):
    """One accepted request, from `queued` to `complete` or `failed`."""

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

    __table_args__ = (
        Index("ix_diagnoses_status", "status"),
        Index("ix_diagnoses_job_id", "job_id", "id"),
        Index("ix_diagnoses_cause", "cause", "id"),
    )
