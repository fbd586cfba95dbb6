"""Keep compressed logs, and what judging them again has come to."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables of kept logs, scans and reclassifications."""
    op.create_table(
        "kept_logs",
        sa.Column("diagnosis_id", sa.String(32), primary_key=True),
        sa.Column("rules", sa.String(80), nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "scans",
        sa.Column("rules", sa.String(80), primary_key=True),
        sa.Column("patterns", sa.Text, nullable=False),
    )
    op.create_table(
        "reclassifications",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("finished_at", sa.Double),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("applies", sa.Boolean, nullable=False),
        sa.Column("chosen", sa.Text, nullable=False),
        sa.Column("rules", sa.String(80)),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("from_kept", sa.Integer, nullable=False),
        sa.Column("from_logs", sa.Integer, nullable=False),
        sa.Column("unread", sa.Integer, nullable=False),
        sa.Column("last_id", sa.String(32)),
        sa.Column("fault", sa.Text),
    )
    op.create_table(
        "reclassified",
        sa.Column("reclassification_id", sa.String(32), primary_key=True),
        sa.Column("diagnosis_id", sa.String(32), primary_key=True),
        sa.Column("cause_before", sa.String(64)),
        sa.Column("cause", sa.String(64)),
        sa.Column("action_before", sa.String(32)),
        sa.Column("action", sa.String(32)),
        sa.Column("why", sa.Text, nullable=False),
    )
