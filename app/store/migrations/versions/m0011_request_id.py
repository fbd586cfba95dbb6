"""Keep which request asked for a diagnosis."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the id of the request to the diagnoses."""
    op.add_column("diagnoses", sa.Column("request_id", sa.String(64)))
