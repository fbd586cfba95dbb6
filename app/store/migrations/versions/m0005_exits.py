"""Know job exits again, keep replaced verdicts, and list the hosts that are suspected."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Widen the table of diagnoses and make two beside it."""
    with op.batch_alter_table("diagnoses") as table:
        table.add_column(sa.Column("cluster", sa.String(256)))
        table.add_column(sa.Column("exit_key", sa.String(64)))
        table.add_column(sa.Column("webhook_id", sa.String(256)))
        table.add_column(sa.Column("log_state", sa.String(64)))
        table.add_column(sa.Column("method", sa.String(16)))
        table.add_column(sa.Column("rules", sa.String(80)))
        table.add_column(sa.Column("fingerprint", sa.String(64)))
        table.add_column(sa.Column("restart", sa.Boolean))
        table.add_column(sa.Column("revision", sa.Integer, nullable=False, server_default="1"))
        table.create_unique_constraint("uq_diagnoses_exit_key", ["exit_key"])
        table.create_unique_constraint("uq_diagnoses_webhook_id", ["webhook_id"])
        table.create_index("ix_diagnoses_cluster", ["cluster", "job_id", "id"])
    op.create_table(
        "past_verdicts",
        sa.Column("diagnosis_id", sa.String(32), primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("finished_at", sa.Double, nullable=False),
        sa.Column("replaced_at", sa.Double, nullable=False),
        sa.Column("why", sa.String(256), nullable=False),
        sa.Column("cause", sa.String(64)),
        sa.Column("action", sa.String(32)),
        sa.Column("method", sa.String(16)),
        sa.Column("rules", sa.String(80)),
        sa.Column("answer", sa.Text),
        sa.Column("digest", sa.Text),
    )
    op.create_table(
        "blames",
        sa.Column("diagnosis_id", sa.String(32), primary_key=True),
        sa.Column("host", sa.String(256), primary_key=True),
        sa.Column("cluster", sa.String(256)),
        sa.Column("cause", sa.String(64), nullable=False),
        sa.Column("is_hardware", sa.Boolean, nullable=False),
    )
    op.create_index("ix_blames_host", "blames", ["cluster", "host", "diagnosis_id"])
