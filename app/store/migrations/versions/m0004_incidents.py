"""Keep past incidents."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of incidents and its indexes."""
    op.create_table(
        "incidents",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("diagnosis_id", sa.String(32), nullable=False, unique=True),
        sa.Column("cluster", sa.String(256)),
        sa.Column("job_id", sa.String(256)),
        sa.Column("job_type", sa.String(256)),
        sa.Column("cause", sa.String(64), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("snippet", sa.Text, nullable=False),
        sa.Column("confirmed_by", sa.String(256)),
        sa.Column("confirmed_at", sa.Double),
        sa.Column("note", sa.Text),
        sa.Column("embedder", sa.String(128)),
        sa.Column("vector", sa.LargeBinary),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("changed_at", sa.Double, nullable=False),
    )
    op.create_index("ix_incidents_changed_at", "incidents", ["changed_at", "id"])
    op.create_index("ix_incidents_fingerprint", "incidents", ["fingerprint"])
