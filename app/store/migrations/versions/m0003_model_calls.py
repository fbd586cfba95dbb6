"""Keep the calls to language models."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of calls and its indexes."""
    op.create_table(
        "model_calls",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("diagnosis_id", sa.String(32)),
        sa.Column("purpose", sa.String(64), nullable=False),
        sa.Column("prompt", sa.String(64), nullable=False),
        sa.Column("prompt_version", sa.Integer, nullable=False),
        sa.Column("model", sa.String(256), nullable=False),
        sa.Column("rung", sa.String(16), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("tokens_in", sa.Integer, nullable=False),
        sa.Column("tokens_out", sa.Integer, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("cost", sa.Double, nullable=False),
    )
    op.create_index("ix_model_calls_day", "model_calls", ["day"])
    op.create_index("ix_model_calls_diagnosis_id", "model_calls", ["diagnosis_id"])
