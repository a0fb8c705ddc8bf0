"""Keys of deleted turns, so that a message sent again does not start them again."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "spent_keys",
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=False),
        sa.Column(
            "spent_at",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default=sa.text("clock_timestamp()"),
        ),
        sa.PrimaryKeyConstraint("owner_id", "idempotency_key", name="pk_spent_keys"),
    )


def downgrade() -> None:
    op.drop_table("spent_keys")
