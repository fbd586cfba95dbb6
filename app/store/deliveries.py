"""Keep what listeners are to be told, and whether they were."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.errors import NotFound
from app.store.database import transaction
from app.store.ids import new_id
from app.store.tables import DeliveryRow as Row


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message to one listener; `status` is `pending`, `sent` or `dead`."""

    id: str
    diagnosis_id: str
    revision: int
    listener: str
    url: str
    form: str
    status: str
    tries: int
    last_error: str | None
    created_at: float
    ended_at: float | None


_ALL = select(
    Row.id, Row.diagnosis_id, Row.revision, Row.listener, Row.url, Row.form, Row.status,
    Row.tries, Row.last_error, Row.created_at, Row.ended_at,
)  # fmt: skip


class Deliveries:
    """The table of messages; all calls block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def plan(self, id: str, revision: int, listener: str, url: str, form: str) -> str:
        """Add a message to a listener about one answer, once; give the id of the message."""
        same = [Row.diagnosis_id == id, Row.revision == revision, Row.listener == listener]
        row = {
            "id": new_id("dl"), "diagnosis_id": id, "revision": revision, "listener": listener,
            "url": url, "form": form, "status": "pending", "tries": 0, "created_at": time.time(),
        }  # fmt: skip
        try:
            with transaction(self._engine, writes=True) as connection:
                if known := connection.execute(select(Row.id).where(*same)).scalar():
                    return known
                connection.execute(insert(Row), row)
        except IntegrityError:  # another process was faster
            with transaction(self._engine) as connection:
                return connection.execute(select(Row.id).where(*same)).scalar_one()
        return str(row["id"])

    def find(self, id: str) -> Delivery:
        """Read one; raise NotFound."""
        with transaction(self._engine) as connection:
            row = connection.execute(_ALL.where(Row.id == id)).one_or_none()
        if row is None:
            raise NotFound(f"there is no delivery {id[:64]!r}")
        return Delivery(**row._mapping)

    def sent(self, id: str) -> None:
        """Note that the listener has it."""
        self._end(id, "sent", None)

    def failed(self, id: str, reason: str, *, final: bool) -> int:
        """Note a try that failed, the last one if final; give how many there were."""
        values = {"tries": Row.tries + 1, "last_error": reason[:500]}
        with transaction(self._engine, writes=True) as connection:
            connection.execute(update(Row).where(Row.id == id).values(values))
            tries = connection.execute(select(Row.tries).where(Row.id == id)).scalar_one()
            if final:
                dead = {"status": "dead", "ended_at": time.time()}
                connection.execute(update(Row).where(Row.id == id).values(dead))
        return tries

    def revive(self, id: str) -> Delivery:
        """Have a dead one tried again; raise NotFound."""
        alive = {"status": "pending", "tries": 0, "ended_at": None}
        with transaction(self._engine, writes=True) as connection:
            connection.execute(update(Row).where(Row.id == id, Row.status == "dead").values(alive))
        return self.find(id)

    def page(self, status: str | None, before: str | None, limit: int) -> Sequence[Delivery]:
        """List the newest first."""
        query = _ALL.where(Row.status == status) if status else _ALL
        query = query.where(Row.id < before) if before else query
        with transaction(self._engine) as connection:
            rows = connection.execute(query.order_by(Row.id.desc()).limit(limit)).all()
        return [Delivery(**row._mapping) for row in rows]

    def pending(self) -> list[tuple[str, int]]:
        """List what is still to be sent, with the tries made."""
        with transaction(self._engine) as connection:
            rows = connection.execute(select(Row.id, Row.tries).where(Row.status == "pending"))
            return [(row[0], row[1]) for row in rows]

    def counts(self) -> dict[str, int]:
        """Count by status."""
        with transaction(self._engine) as connection:
            rows = connection.execute(select(Row.status, func.count()).group_by(Row.status))
            return {row[0]: row[1] for row in rows}

    def _end(self, id: str, status: str, error: str | None) -> None:
        ended = {"status": status, "ended_at": time.time(), "last_error": error}
        with transaction(self._engine, writes=True) as connection:
            connection.execute(update(Row).where(Row.id == id).values(ended))
