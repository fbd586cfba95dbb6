"""Keep when each process that does durable work was last seen."""

import time

from sqlalchemy import Engine, Update, delete, insert, select, update

from app.store.database import transaction
from app.store.tables import ExecutorRow as Row


class Executors:
    """The table of working processes; all calls block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def beat(self, id: str) -> None:
        """Note that a process lives."""
        with transaction(self._engine, writes=True) as connection:
            known = connection.execute(_seen(id, time.time()))
            if not known.rowcount:
                connection.execute(insert(Row).values(id=id, seen_at=time.time()))

    def leave(self, id: str) -> None:
        """Note that a process has ended in order: it is gone at once."""
        with transaction(self._engine, writes=True) as connection:
            connection.execute(_seen(id, 0.0))

    def gone(self, seconds: float) -> list[str]:
        """Name those that were not seen for so long."""
        with transaction(self._engine) as connection:
            rows = connection.execute(select(Row.id).where(Row.seen_at < time.time() - seconds))
            return list(rows.scalars())

    def forget(self, id: str) -> None:
        """Strike one off the list."""
        with transaction(self._engine, writes=True) as connection:
            connection.execute(delete(Row).where(Row.id == id))


def _seen(id: str, at: float) -> Update:
    return update(Row).where(Row.id == id).values(seen_at=at)
