"""Keep types of jobs, and the filters that were written for them."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "job_types",
        sa.Column("name", sa.String(256), primary_key=True),
        sa.Column("outline", sa.Text, nullable=False),
        sa.Column("jobs", sa.Integer, nullable=False),
        sa.Column("ratios", sa.Text, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("material", sa.Text),
        sa.Column("diagnosis_id", sa.String(32)),
        sa.Column("writings", sa.Integer, nullable=False),
        sa.Column("next_writing", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("seen_at", sa.Double, nullable=False),
    )
    op.create_index("ix_job_types_seen_at", "job_types", ["seen_at"])
    op.create_table(
        "filter_rules",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("job_type", sa.String(256), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("match", sa.Text, nullable=False),
        sa.Column("hits", sa.Text, nullable=False),
        sa.Column("misses", sa.Text, nullable=False),
        sa.Column("author", sa.String(320), nullable=False),
        sa.Column("votes", sa.Integer, nullable=False),
        sa.Column("answers", sa.Integer, nullable=False),
        sa.Column("share", sa.Double, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("taken", sa.BigInteger, nullable=False),
        sa.Column("idle_jobs", sa.Integer, nullable=False),
        sa.Column("last_hit_at", sa.Double),
        sa.Column("based_on", sa.String(32)),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("changed_at", sa.Double, nullable=False),
        sa.UniqueConstraint("job_type", "name", name="uq_filter_rules"),
    )
