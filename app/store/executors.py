"""Keep a mark of each process that does durable work, which changes for as long as it lives."""

import time
from collections.abc import Callable

from sqlalchemy import Engine, Update, delete, insert, select, update

from app.store.database import transaction
from app.store.tables import ExecutorRow as Row

LEFT = 0.0  # the mark of a process that has ended in order


class Executors:
    """The table of working processes; all calls block.

    A mark is the time by the clock of its process. It is made to change; nobody may compare it with
    another clock.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._clock = clock

    def beat(self, id: str) -> None:
        """Note that a process lives."""
        now = self._clock()
        with transaction(self._engine, writes=True) as connection:
            if not connection.execute(_marked(id, now)).rowcount:
                connection.execute(insert(Row).values(id=id, seen_at=now))

    def leave(self, id: str) -> None:
        """Note that a process has ended in order: it is gone at once."""
        with transaction(self._engine, writes=True) as connection:
            connection.execute(_marked(id, LEFT))

    def beats(self) -> dict[str, float]:
        """Give the marks of all."""
        with transaction(self._engine) as connection:
            return {row[0]: row[1] for row in connection.execute(select(Row.id, Row.seen_at))}

    def forget(self, id: str) -> None:
        """Strike one off the list."""
        with transaction(self._engine, writes=True) as connection:
            connection.execute(delete(Row).where(Row.id == id))


def _marked(id: str, mark: float) -> Update:
    return update(Row).where(Row.id == id).values(seen_at=mark)
