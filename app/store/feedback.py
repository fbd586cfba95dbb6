"""Keep what people say of verdicts: all of it, the last word on a diagnosis being the one in force.

A word is kept in one transaction with the incident that it confirms, so memory and the record of
what was said can never differ. All calls block and may be made from any thread.
"""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import Engine, Select, func, insert, select, update

from app.errors import NotReady
from app.store.database import transaction
from app.store.feedback_tables import FeedbackRow as Row
from app.store.incidents import confirm
from app.store.outcome import is_refining
from app.store.tables import DiagnosisRow

Word = Literal["confirm", "correct"]
_TOLD = [getattr(Row, column.name) for column in Row.__table__.columns]
_LATEST = select(func.max(Row.id)).group_by(Row.diagnosis_id)


@dataclass(frozen=True, slots=True)
class Said:
    """What an answer said, as far as a person's word on it is judged."""

    cause: str
    method: str
    rules: str
    action: str
    restart: bool
    is_final: bool = True  # no better answer is still being worked on


@dataclass(frozen=True, slots=True)
class Given:
    """A person's word: the right cause, and whether what the answer advised was wrong."""

    diagnosis_id: str
    verdict: Word
    cause: str
    by: str
    note: str
    said: Said
    false_restart: bool
    false_cordon: bool
    wants_rule: bool


@dataclass(frozen=True, slots=True)
class Feedback:
    """A word that is kept."""

    id: int
    diagnosis_id: str
    at: float
    verdict: Word
    cause: str
    by: str
    note: str
    said_cause: str
    said_method: str
    said_rules: str
    false_restart: bool
    false_cordon: bool
    writing: str | None
    writing_note: str | None


@dataclass(frozen=True, slots=True)
class Score:
    """How answers fared with people, by their last words."""

    right: Counter[str] = field(default_factory=Counter)  # by the method of the answer
    wrong: Counter[str] = field(default_factory=Counter)
    false_restarts: int = 0
    false_cordons: int = 0


class Feedbacks:
    """The table of feedback."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def said(self, diagnosis_id: str) -> Said:
        """Read what an answer says; raise NotReady where there is none."""
        query = select(
            DiagnosisRow.status, DiagnosisRow.cause, DiagnosisRow.method,
            DiagnosisRow.rules, DiagnosisRow.action, DiagnosisRow.restart, DiagnosisRow.answer,
        ).where(DiagnosisRow.id == diagnosis_id[:32])  # fmt: skip
        with transaction(self._engine) as connection:
            row = connection.execute(query).one_or_none()
        if row is None or row[0] != "complete":
            raise NotReady(f"diagnosis {diagnosis_id[:64]} has no answer that could be right")
        return Said(
            row[1] or "", row[2] or "rules", row[3] or "", row[4] or "", bool(row[5]),
            is_final=not is_refining(row[6]),
        )  # fmt: skip

    def add(self, given: Given) -> Feedback:
        """Keep a word, and confirm the incident by it; raise NotReady for what is gone."""
        now = time.time()
        row = {
            "diagnosis_id": given.diagnosis_id, "at": now, "verdict": given.verdict,
            "cause": given.cause, "by": given.by[:256], "note": given.note,
            "said_cause": given.said.cause, "said_method": given.said.method,
            "said_rules": given.said.rules, "false_restart": given.false_restart,
            "false_cordon": given.false_cordon,
            "writing": "wanted" if given.wants_rule else None,
        }  # fmt: skip
        there = select(DiagnosisRow.id).where(DiagnosisRow.id == given.diagnosis_id)
        with transaction(self._engine, writes=True) as connection:
            if connection.execute(there.with_for_update()).scalar() is None:
                raise NotReady(f"diagnosis {given.diagnosis_id[:64]} was removed")
            id = connection.execute(insert(Row).values(row).returning(Row.id)).scalar_one()
            confirm(connection, given.diagnosis_id, given.by[:256], given.note, given.cause)
            kept = connection.execute(select(*_TOLD).where(Row.id == id)).one()
        return Feedback(**kept._mapping)

    def find(self, id: int) -> Feedback | None:
        """Read one."""
        with transaction(self._engine) as connection:
            row = connection.execute(select(*_TOLD).where(Row.id == id)).one_or_none()
        return Feedback(**row._mapping) if row else None

    def of(self, diagnosis_id: str) -> list[Feedback]:
        """List all that was said of one diagnosis, the oldest first."""
        query = select(*_TOLD).where(Row.diagnosis_id == diagnosis_id).order_by(Row.id)
        return self._all(query)

    def labels(self, most: int) -> list[Feedback]:
        """Give the last word on each diagnosis, the newest first."""
        return self._all(
            select(*_TOLD).where(Row.id.in_(_LATEST)).order_by(Row.id.desc()).limit(most)
        )

    def wanting(self) -> list[int]:
        """List the words because of which a rule is still to be written."""
        with transaction(self._engine) as connection:
            query = select(Row.id).where(Row.writing == "wanted").order_by(Row.id)
            return list(connection.execute(query).scalars())

    def done(self, id: int, note: str) -> None:
        """Note what came of the wish for a rule."""
        values = {"writing": "done", "writing_note": note}
        with transaction(self._engine, writes=True) as connection:
            connection.execute(update(Row).where(Row.id == id).values(values))

    def score(self) -> Score:
        """Count how answers fared."""
        is_right = Row.said_cause == Row.cause
        columns = (is_right, Row.said_method, Row.false_restart, Row.false_cordon)
        query = select(*columns, func.count()).where(Row.id.in_(_LATEST)).group_by(*columns)
        right: Counter[str] = Counter()
        wrong: Counter[str] = Counter()
        restarts = cordons = 0
        with transaction(self._engine) as connection:
            for fits, method, restart, cordon, count in connection.execute(query):
                (right if fits else wrong)[method] += count
                restarts += count * bool(restart)
                cordons += count * bool(cordon)
        return Score(right, wrong, restarts, cordons)

    def _all(self, query: Select[*tuple[object, ...]]) -> list[Feedback]:
        with transaction(self._engine) as connection:
            return [Feedback(**row._mapping) for row in connection.execute(query).all()]
