"""Bring the database to the form that this version of the program expects."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Engine

from app.errors import StoreError
from app.store.database import transaction


def migrate(engine: Engine) -> None:
    """Apply every migration that is missing, all or none of them."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with transaction(engine) as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreError(
                f"the database was written by another version of firstfault: {error}"
            ) from error
