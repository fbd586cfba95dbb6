"""The tables of what people said of verdicts, and of rules that were proposed because of it."""

from sqlalchemy import Boolean, Double, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.store.tables import Table


class FeedbackRow(Table):
    """One person's word on one answer; all that was ever said is kept, and the last counts.

    `cause` is the right one, the `said_…` columns what the answer was. `writing` tells whether a
    rule is to be written because of it: null where rules knew the cause, `wanted`, or `done` with
    `writing_note` saying what came of it.
    """

    __tablename__ = "feedback"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    diagnosis_id: Mapped[str] = mapped_column(String(32))
    at: Mapped[float] = mapped_column(Double)
    verdict: Mapped[str] = mapped_column(String(16))
    cause: Mapped[str] = mapped_column(String(64))
    by: Mapped[str] = mapped_column(String(256))
    note: Mapped[str] = mapped_column(Text)
    said_cause: Mapped[str] = mapped_column(String(64))
    said_method: Mapped[str] = mapped_column(String(16))
    said_rules: Mapped[str] = mapped_column(String(80))
    false_restart: Mapped[bool] = mapped_column(Boolean)
    false_cordon: Mapped[bool] = mapped_column(Boolean)
    writing: Mapped[str | None] = mapped_column(String(16))
    writing_note: Mapped[str | None] = mapped_column(Text)

    __table_args__ = (
        Index("ix_feedback_diagnosis_id", "diagnosis_id", "id"),
        Index("ix_feedback_writing", "writing"),
    )


class ProposalRow(Table):
    """A rule that a model wrote: `text` is a file of `rules/signals/`.

    `evidence` and `gates` are JSON lists; `rules` is the version that it was tried beside. `state`
    goes from `proposed` to `approved` or `rejected`, and from `approved` to `withdrawn`.
    """

    __tablename__ = "rule_proposals"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    feedback_id: Mapped[int] = mapped_column(Integer, unique=True)
    diagnosis_id: Mapped[str] = mapped_column(String(32))
    name: Mapped[str] = mapped_column(String(64))
    cause: Mapped[str] = mapped_column(String(64))
    text: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(String(256))
    prompt_version: Mapped[int] = mapped_column(Integer)
    evidence: Mapped[str] = mapped_column(Text)
    gates: Mapped[str] = mapped_column(Text)
    rules: Mapped[str] = mapped_column(String(80))
    state: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[float] = mapped_column(Double)
    decided_by: Mapped[str | None] = mapped_column(String(256))
    decided_at: Mapped[float | None] = mapped_column(Double)
    note: Mapped[str] = mapped_column(Text)

    __table_args__ = (Index("ix_rule_proposals_state", "state", "id"),)
