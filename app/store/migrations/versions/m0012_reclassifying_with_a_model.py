"""Let runs ask a model and be about logs that were never stored."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what a run asks and takes; what a run has come to may be a path of any length."""
    no, none = sa.false(), "0"
    with op.batch_alter_table("reclassifications") as runs:
        runs.alter_column("last_id", new_column_name="last", type_=sa.Text)
        for column in (
            sa.Column("driver", sa.String(16), nullable=False, server_default="service"),
            sa.Column("asks", sa.Text),
            sa.Column("asked", sa.Integer, nullable=False, server_default=none),
            sa.Column("unheard", sa.Integer, nullable=False, server_default=none),
            sa.Column("calls", sa.Integer, nullable=False, server_default=none),
            sa.Column("tokens", sa.BigInteger, nullable=False, server_default=none),
            sa.Column("note", sa.Text),
        ):
            runs.add_column(column)
    with op.batch_alter_table("reclassified") as changes:
        changes.alter_column("diagnosis_id", new_column_name="subject", type_=sa.Text)
        changes.add_column(sa.Column("domain", sa.String(64)))
        changes.add_column(sa.Column("by_model", sa.Boolean, nullable=False, server_default=no))
