"""The number of workers a turn has lost in a row, so that one making progress is never given up.

Both columns have defaults and are written with each loss: a process of the previous version counts
all losses as before, and one of this version starts its own count, ignoring earlier losses.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column(
        "turns", sa.Column("losses_in_row", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column("turns", sa.Column("lost_at_step", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("turns", "lost_at_step")
    op.drop_column("turns", "losses_in_row")
