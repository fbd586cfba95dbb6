"""Keep what listeners are to be told."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of deliveries; let a request name a callback."""
    op.add_column("diagnoses", sa.Column("callback_url", sa.Text))
    op.create_table(
        "deliveries",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("diagnosis_id", sa.String(32), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("listener", sa.String(64), nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("form", sa.String(16), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("last_error", sa.Text),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("ended_at", sa.Double),
        sa.UniqueConstraint("diagnosis_id", "revision", "listener", name="uq_deliveries"),
    )
    op.create_index("ix_deliveries_status", "deliveries", ["status"])
