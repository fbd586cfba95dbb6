"""Keep how far training came."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the number of the last step to the diagnoses."""
    op.add_column("diagnoses", sa.Column("last_step", sa.BigInteger))
