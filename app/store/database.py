"""Open the database; name every failure of it a StoreError.

SQLite runs in WAL mode, so that readers never wait for a writer, and syncs every commit, so that
what was accepted survives a power cut. Transactions are begun by us and not by the driver, which
would run the statements of a migration outside of any transaction.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import Lock
from typing import Protocol
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, create_engine, event, func, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.errors import StoreError, UsageError

_CLOCK = select(func.extract("epoch", func.clock_timestamp()))
_BUSY_SECONDS = 10.0
_PRAGMAS = (f"busy_timeout={_BUSY_SECONDS * 1000:.0f}", "synchronous=FULL", "foreign_keys=ON")
_GLANCE_SECONDS = 0.02


_turns: WeakKeyDictionary[Engine, Lock] = WeakKeyDictionary()
_turns_lock = Lock()


class _Cursor(Protocol):
    def execute(self, statement: str, /) -> object: ...

    def close(self) -> None: ...


class _SqliteConnection(Protocol):
    isolation_level: str | None

    def cursor(self) -> _Cursor: ...


def connect(url: str) -> Engine:
    """Make the engine of a database; the folder of a SQLite file is made, nothing is opened yet."""
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() != "sqlite":
            return create_engine(parsed, pool_pre_ping=True)
        if parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(parsed)
    except (ArgumentError, ModuleNotFoundError) as error:
        raise UsageError(f"FIRSTFAULT_DATABASE_URL cannot be used: {error}") from error
    except OSError as error:
        raise StoreError(f"the folder of the database cannot be made: {error}") from error
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def now(connection: Connection) -> float:
    """Tell the time by the one clock of all who share the database, in seconds since the epoch.

    Those of the machines may differ by hours, and what one wrote later would look older.
    """
    if connection.dialect.name != "postgresql":  # a SQLite file has one machine
        return time.time()
    return float(connection.execute(_CLOCK).scalar_one())


def _prepare_sqlite(connection: _SqliteConnection, _record: object) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    _write_ahead(cursor)
    cursor.close()


def _write_ahead(cursor: _Cursor) -> None:
    """Turn on the write-ahead log; while another process sets the file up, SQLite does not wait."""
    end = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(_GLANCE_SECONDS)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _turn(engine: Engine, writes: bool) -> AbstractContextManager[object]:
    """Have the writers of this process take turns.

    SQLite itself lets them sleep and try again, for up to 100 ms each time.
    """
    if not writes or engine.dialect.name != "sqlite":
        return nullcontext()
    with _turns_lock:
        return _turns.setdefault(engine, Lock())


@contextmanager
def transaction(engine: Engine, *, writes: bool = False) -> Iterator[Connection]:
    """Run one transaction; raise StoreError where the database is gone, locked, full or broken.

    One that writes after it has read must say so from the start: SQLite does not wait for the lock
    then, since what was read could have changed. What no second try can mend, since it is a bug of
    ours, stays what it is.
    """
    try:
        with _turn(engine, writes), engine.connect() as connection:
            connection = connection.execution_options(writes=writes)
            with connection.begin():
                yield connection
    except (DataError, IntegrityError, ProgrammingError):
        raise
    except (DBAPIError, PoolTimeout) as error:
        reason = str(getattr(error, "orig", None) or error)
        raise StoreError(f"the database cannot be used: {reason}") from error
