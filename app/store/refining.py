"""Keep the answer of a second step that changes no verdict: in its place, not above it.

Where a model changes what is said, the answer gets a revision of its own (`Diagnoses.replace`).
Where it does not, the present answer is completed by what the model said, or by why it said
nothing. All calls block and may be made from any thread.
"""

from sqlalchemy import Engine, bindparam, update

from app.store.database import transaction
from app.store.outcome import Outcome
from app.store.tables import DiagnosisRow as Row

_AMEND = update(Row).where(
    Row.id == bindparam("id_"), Row.revision == bindparam("revision_"), Row.status == "complete"
)


class Refining:
    """The present answers, as far as a second step completes them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def complete(self, id: str, revision: int, answer: str) -> bool:
        """Put a text in the place of an answer; no, where a later one has."""
        return self._put({"answer": answer, "id_": id, "revision_": revision})

    def amend(self, id: str, revision: int, outcome: Outcome) -> bool:
        """Complete an answer; no, where a later one has taken its place."""
        values: dict[str, object] = {
            "answer": outcome.answer, "method": outcome.method, "confidence": outcome.confidence,
            "summary": outcome.summary, "id_": id, "revision_": revision,
        }  # fmt: skip
        return self._put(values)

    def _put(self, values: dict[str, object]) -> bool:
        with transaction(self._engine, writes=True) as connection:
            return bool(connection.execute(_AMEND, values).rowcount)
