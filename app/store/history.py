"""Read the answers of a diagnosis that later ones have replaced."""

from dataclasses import dataclass

from sqlalchemy import Engine, select

from app.store.database import transaction
from app.store.tables import PastVerdictRow as Row


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """A former answer, and why it was replaced."""

    revision: int
    finished_at: float
    replaced_at: float
    why: str
    cause: str | None
    action: str | None
    method: str | None
    rules: str | None


_OF = select(
    Row.revision, Row.finished_at, Row.replaced_at, Row.why,
    Row.cause, Row.action, Row.method, Row.rules,
).order_by(Row.revision)  # fmt: skip


def past_verdicts(engine: Engine, id: str) -> list[PastVerdict]:
    """List them, the oldest first; blocks."""
    with transaction(engine) as connection:
        rows = connection.execute(_OF.where(Row.diagnosis_id == id)).all()
    return [PastVerdict(**row._mapping) for row in rows]
