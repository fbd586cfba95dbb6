"""Keep what people say of verdicts, and the rules that were proposed because of it."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "feedback",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("diagnosis_id", sa.String(32), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("cause", sa.String(64), nullable=False),
        sa.Column("by", sa.String(256), nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("said_cause", sa.String(64), nullable=False),
        sa.Column("said_method", sa.String(16), nullable=False),
        sa.Column("said_rules", sa.String(80), nullable=False),
        sa.Column("false_restart", sa.Boolean, nullable=False),
        sa.Column("false_cordon", sa.Boolean, nullable=False),
        sa.Column("writing", sa.String(16)),
        sa.Column("writing_note", sa.Text),
    )
    op.create_index("ix_feedback_diagnosis_id", "feedback", ["diagnosis_id", "id"])
    op.create_index("ix_feedback_writing", "feedback", ["writing"])
    op.create_table(
        "rule_proposals",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("feedback_id", sa.Integer, nullable=False, unique=True),
        sa.Column("diagnosis_id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("cause", sa.String(64), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("model", sa.String(256), nullable=False),
        sa.Column("prompt_version", sa.Integer, nullable=False),
        sa.Column("evidence", sa.Text, nullable=False),
        sa.Column("gates", sa.Text, nullable=False),
        sa.Column("rules", sa.String(80), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("decided_by", sa.String(256)),
        sa.Column("decided_at", sa.Double),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_index("ix_rule_proposals_state", "rule_proposals", ["state", "id"])
