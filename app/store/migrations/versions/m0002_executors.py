"""Keep which processes do durable work."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of executors."""
    op.create_table(
        "executors",
        sa.Column("id", sa.String(256), primary_key=True),
        sa.Column("seen_at", sa.Double, nullable=False),
    )
