"""Bring the database to the form that this version of the program expects."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, text

from app.errors import StoreError
from app.store.database import transaction

MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x66697273  # "firs"; PostgreSQL keeps such locks for each database apart


def migrate(engine: Engine, revision: str = "head") -> None:
    """Apply every migration that is missing, all or none of them.

    Replicas that start together on PostgreSQL wait for the first of them.
    """
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with transaction(engine) as connection:
        _wait_for_others(connection)
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, revision)
        except CommandError as error:
            raise StoreError(
                f"the database was written by another version of firstfault: {error}"
            ) from error


def _wait_for_others(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # a SQLite file has one process, see FolderLock
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _LOCK})
