"""Bring the database to the form that this version of the program expects, or say that it is not.

Only the service migrates what is in use: a command that did so beside a service of an older version
would change the tables under it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, inspect, text

from app.errors import StoreError
from app.store.database import transaction

MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x66697273  # "firs"; PostgreSQL keeps such locks for each database apart


@dataclass(frozen=True, slots=True)
class Form:
    """The revision of a database, None where it is empty, and the one that is expected."""

    found: str | None
    expected: str
    state: Literal["empty", "behind", "right", "later"]

    @property
    def remedy(self) -> str:
        """What to do about a database that is not of the right form."""
        told = f"the database is at revision {self.found}, this firstfault expects {self.expected}"
        if self.state == "later":
            return f"{told}: install the version that serves it, or a later one"
        return (
            f"{told}: stop the service of the older version, keep a copy of the database and start "
            "`firstfault serve` of this one, which brings it up to date; or use the commands of "
            "the version that serves it"
        )


def form_of(engine: Engine) -> Form:
    """Look at a database, and change nothing."""
    scripts = ScriptDirectory(str(MIGRATIONS))
    expected = str(scripts.get_current_head())
    with transaction(engine) as connection:
        known = inspect(connection).has_table("alembic_version")
        query = text("select version_num from alembic_version")
        found = connection.execute(query).scalar_one_or_none() if known else None
    if found is None:
        return Form(None, expected, "empty")
    if found not in {one.revision for one in scripts.walk_revisions()}:
        return Form(found, expected, "later")
    return Form(found, expected, "right" if found == expected else "behind")


def migrate(engine: Engine, revision: str = "head") -> None:
    """Apply every migration that is missing, all or none of them.

    Who starts together with others waits for the first of them.
    """
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with transaction(engine, writes=True) as connection:  # on SQLite that is a lock
        _wait_for_others(connection)
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, revision)
        except CommandError as error:
            raise StoreError(
                f"the database was written by another version of firstfault: {error}"
            ) from error


def _wait_for_others(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _LOCK})
