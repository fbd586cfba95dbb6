"""Keep what calls to language models took in all, beside the calls, which may be deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_SUMS = """
    insert into model_call_totals
        (purpose, outcome, calls, tokens_in, tokens_out, seconds, cost)
    select purpose, outcome, count(*), sum(tokens_in), sum(tokens_out), sum(seconds), sum(cost)
    from model_calls group by purpose, outcome
"""


def upgrade() -> None:
    """Make the table of sums, and begin with those of the calls that are kept."""
    op.create_table(
        "model_call_totals",
        sa.Column("purpose", sa.String(64), primary_key=True),
        sa.Column("outcome", sa.String(16), primary_key=True),
        sa.Column("calls", sa.BigInteger, nullable=False),
        sa.Column("tokens_in", sa.BigInteger, nullable=False),
        sa.Column("tokens_out", sa.BigInteger, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("cost", sa.Double, nullable=False),
    )
    op.execute(_SUMS)
