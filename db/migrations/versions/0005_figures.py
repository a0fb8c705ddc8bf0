"""For monitoring: an index to find the turns of the last hour, a count of unknown outcomes."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column(
        "turns", sa.Column("unknown_outcomes", sa.Integer(), nullable=False, server_default="0")
    )
    # Turns are stored in order of arrival, so this index costs a turn next to nothing.
    op.create_index(
        "ix_turns_created",
        "turns",
        ["created_at"],
        postgresql_using="brin",
        postgresql_with={"pages_per_range": "16", "autosummarize": "on"},
    )


def downgrade() -> None:
    op.drop_index("ix_turns_created", "turns")
    op.drop_column("turns", "unknown_outcomes")
