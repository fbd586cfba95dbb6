"""The tables of job types and of the filters that were written for them."""

from sqlalchemy import BigInteger, Double, Index, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.store.tables import Table


class JobTypeRow(Table):
    """One type of job; `outline` and `ratios` (of its last logs) are JSON lists.

    `material` is what a model would be shown of the last log that was over the budget, that of
    `diagnosis_id`. `writings` counts how often filters were written; they are written again from
    the job number `next_writing` on.
    """

    __tablename__ = "job_types"

    name: Mapped[str] = mapped_column(String(256), primary_key=True)
    outline: Mapped[str] = mapped_column(Text)
    jobs: Mapped[int] = mapped_column(Integer)
    ratios: Mapped[str] = mapped_column(Text)
    tokens: Mapped[int] = mapped_column(BigInteger)
    material: Mapped[str | None] = mapped_column(Text)
    diagnosis_id: Mapped[str | None] = mapped_column(String(32))
    writings: Mapped[int] = mapped_column(Integer)
    next_writing: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[float] = mapped_column(Double)
    seen_at: Mapped[float] = mapped_column(Double)

    __table_args__ = (Index("ix_job_types_seen_at", "seen_at"),)


class FilterRow(Table):
    """One filter that a model wrote; `hits` and `misses` are JSON lists of lines.

    `state` is `active`, `off` (by a person) or `retired` (unused for long). `taken` counts the
    lines that it took away, `idle_jobs` the jobs since it took one. `based_on` is the filter of a
    similar type that it was copied from.
    """

    __tablename__ = "filter_rules"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    job_type: Mapped[str] = mapped_column(String(256))
    name: Mapped[str] = mapped_column(String(64))
    title: Mapped[str] = mapped_column(Text)
    why: Mapped[str] = mapped_column(Text)
    match: Mapped[str] = mapped_column(Text)
    hits: Mapped[str] = mapped_column(Text)
    misses: Mapped[str] = mapped_column(Text)
    author: Mapped[str] = mapped_column(String(320))
    votes: Mapped[int] = mapped_column(Integer)
    answers: Mapped[int] = mapped_column(Integer)
    share: Mapped[float] = mapped_column(Double)
    state: Mapped[str] = mapped_column(String(16))
    taken: Mapped[int] = mapped_column(BigInteger)
    idle_jobs: Mapped[int] = mapped_column(Integer)
    last_hit_at: Mapped[float | None] = mapped_column(Double)
    based_on: Mapped[str | None] = mapped_column(String(32))
    created_at: Mapped[float] = mapped_column(Double)
    changed_at: Mapped[float] = mapped_column(Double)

    __table_args__ = (UniqueConstraint("job_type", "name", name="uq_filter_rules"),)
