"""Keep diagnoses."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of diagnoses and its indexes."""
    op.create_table(
        "diagnoses",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("finished_at", sa.Double),
        sa.Column("job_id", sa.String(256)),
        sa.Column("job", sa.Text, nullable=False),
        sa.Column("sources", sa.Text, nullable=False),
        sa.Column("cause", sa.String(64)),
        sa.Column("domain", sa.String(64)),
        sa.Column("confidence", sa.String(16)),
        sa.Column("action", sa.String(32)),
        sa.Column("summary", sa.Text),
        sa.Column("fault_kind", sa.String(64)),
        sa.Column("fault_status", sa.Integer),
        sa.Column("fault_detail", sa.Text),
        sa.Column("answer", sa.Text),
        sa.Column("digest", sa.Text),
    )
    op.create_index("ix_diagnoses_status", "diagnoses", ["status"])
    op.create_index("ix_diagnoses_job_id", "diagnoses", ["job_id", "id"])
    op.create_index("ix_diagnoses_cause", "diagnoses", ["cause", "id"])
