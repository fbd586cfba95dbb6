"""Run by alembic: bring the database of the given connection up to date."""

from alembic import context

from app.store import feedback_tables, filter_tables  # noqa: F401  their tables belong to the metadata
from app.store.tables import Table

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Table.metadata)
context.run_migrations()
