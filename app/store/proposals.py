"""Keep the rules that a model wrote because people confirmed a cause that no rule had found.

What is approved here is what every process of a service puts beside the shipped rules, so a change
of state is one transaction. All calls block and may be made from any thread.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, Engine, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.errors import NotFound, UsageError
from app.store.database import transaction
from app.store.feedback_tables import ProposalRow as Row
from app.store.ids import new_id
from app.store.tables import DiagnosisRow

State = Literal["proposed", "approved", "rejected", "withdrawn"]
_BEFORE: Mapping[State, State] = {
    "approved": "proposed",
    "rejected": "proposed",
    "withdrawn": "approved",
}
_MOST = 200
_TOLD = [getattr(Row, column.name) for column in Row.__table__.columns]


@dataclass(frozen=True, slots=True)
class Passed:
    """A gate, and why a rule does not pass it; None where it does."""

    gate: str
    why: str | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A confirmed failure, and the lines of it that the model was shown."""

    diagnosis_id: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A rule as it was written and tried."""

    name: str
    cause: str
    text: str
    model: str
    prompt_version: int
    evidence: tuple[Shown, ...]
    gates: tuple[Passed, ...]
    rules: str

    @property
    def passes(self) -> bool:
        """Say whether every gate lets it through."""
        return all(gate.why is None for gate in self.gates)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A written rule that is kept; `hits` counts the answers since that rest on it or name it."""

    id: str
    diagnosis_id: str
    written: Written
    state: State
    created_at: float
    decided_by: str | None
    decided_at: float | None
    note: str
    hits: int = 0


class Proposals:
    """The table of proposals."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, feedback_id: int, diagnosis_id: str, written: Written) -> str | None:
        """Keep a rule; None where one was kept for this word of a person before.

        One that does not pass its gates is kept as rejected by them.
        """
        now, passes = time.time(), written.passes
        row = {
            "id": new_id("pr"), "feedback_id": feedback_id, "diagnosis_id": diagnosis_id,
            "name": written.name, "cause": written.cause, "text": written.text,
            "model": written.model[:256], "prompt_version": written.prompt_version,
            "evidence": json.dumps([[s.diagnosis_id, s.lines] for s in written.evidence]),
            "gates": json.dumps([[gate.gate, gate.why] for gate in written.gates]),
            "rules": written.rules, "state": "proposed" if passes else "rejected",
            "created_at": now, "decided_by": None if passes else "gates",
            "decided_at": None if passes else now,
            "note": "" if passes else next(g.why for g in written.gates if g.why is not None),
        }  # fmt: skip
        try:
            with transaction(self._engine, writes=True) as connection:
                connection.execute(insert(Row), row)
        except IntegrityError:
            return None
        return str(row["id"])

    def find(self, id: str) -> Proposal:
        """Read one; raise NotFound."""
        with transaction(self._engine) as connection:
            return _found(connection, id)

    def page(self, state: State | None, before: str | None, limit: int) -> list[Proposal]:
        """List the newest first; `before` is the last id of the page above."""
        query = select(*_TOLD).order_by(Row.id.desc()).limit(limit)
        query = query.where(Row.state == state) if state is not None else query
        query = query.where(Row.id < before) if before is not None else query
        with transaction(self._engine) as connection:
            rows = connection.execute(query).all()
            return [_proposal(connection, row._asdict()) for row in rows]

    def decided(self, cause: str, *states: State) -> list[Proposal]:
        """List those of a cause that passed their gates and are in one of these states."""
        query = select(*_TOLD).where(Row.cause == cause, Row.state.in_(states))
        with transaction(self._engine) as connection:
            rows = connection.execute(query.order_by(Row.id.desc()).limit(_MOST)).all()
            found = [_proposal(connection, row._asdict()) for row in rows]
        return [one for one in found if one.written.passes]

    def approved(self) -> dict[str, str]:
        """Give the text of each rule that counts, by its name."""
        query = select(Row.name, Row.text).where(Row.state == "approved").order_by(Row.name)
        with transaction(self._engine) as connection:
            return {name: text for name, text in connection.execute(query)}

    def decide(self, id: str, state: State, by: str, note: str = "") -> Proposal:
        """Approve, reject or withdraw; raise NotFound, or UsageError where it is past that.

        What is so already stays as it was decided first.
        """
        now = time.time()
        with transaction(self._engine, writes=True) as connection:
            found = _found(connection, id)
            if found.state == state:
                return found
            if found.state != _BEFORE.get(state):
                raise UsageError(f"proposal {id} is {found.state} and cannot be {state}")
            if state == "approved":
                _check_name(connection, found)
            values = {"state": state, "decided_by": by[:256], "decided_at": now, "note": note}
            connection.execute(update(Row).where(Row.id == id).values(values))
            return _found(connection, id)


def _check_name(connection: Connection, found: Proposal) -> None:
    """Two rules of one name cannot count at once."""
    name = found.written.name
    same = select(Row.id).where(Row.state == "approved", Row.name == name)
    if other := connection.execute(same).scalar():
        raise UsageError(f"the approved proposal {other} has the name {name} already")


def _found(connection: Connection, id: str) -> Proposal:
    row = connection.execute(select(*_TOLD).where(Row.id == id[:32])).one_or_none()
    if row is None:
        raise NotFound(f"there is no proposal {id[:64]!r}")
    return _proposal(connection, row._asdict())


def _proposal(connection: Connection, row: Mapping[str, object]) -> Proposal:
    texts = {name: str(row[name]) for name in ("name", "cause", "text", "model", "rules")}
    evidence: Sequence[tuple[str, Sequence[str]]] = json.loads(str(row["evidence"]))
    gates: Sequence[tuple[str, str | None]] = json.loads(str(row["gates"]))
    told = ("id", "diagnosis_id", "state", "created_at", "decided_by", "decided_at", "note")
    written = Written(
        **texts,
        prompt_version=int(str(row["prompt_version"])),
        evidence=tuple(Shown(of, tuple(lines)) for of, lines in evidence),
        gates=tuple(Passed(gate, why) for gate, why in gates),
    )
    hits = _hits(connection, row) if row["state"] in ("approved", "withdrawn") else 0
    return Proposal(**{name: row[name] for name in told}, written=written, hits=hits)  # type: ignore[arg-type]


def _hits(connection: Connection, row: Mapping[str, object]) -> int:
    """Count the answers that name the signal; only those since it was written can."""
    answers = select(func.count()).where(
        DiagnosisRow.cause == row["cause"],
        DiagnosisRow.finished_at >= row["created_at"],
        DiagnosisRow.answer.contains(f'"signal": "{row["name"]}"', autoescape=True),
    )
    return connection.execute(answers).scalar_one()
