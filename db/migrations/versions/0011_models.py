"""The connection to models set on a page; the models that people choose for turns."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "model_connections",
        sa.Column("number", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("base_url", sa.String(), nullable=False),
        sa.Column("sealed_key", sa.String(), nullable=True),
        sa.Column("default_model", sa.String(), nullable=False),
        sa.Column("saved_by", sa.String(), nullable=False),
        sa.Column(
            "saved_at",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default=sa.text("clock_timestamp()"),
        ),
        sa.PrimaryKeyConstraint("number", name="pk_model_connections"),
    )
    op.add_column("conversations", sa.Column("model", sa.String(), nullable=True))
    op.add_column("turns", sa.Column("model", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("turns", "model")
    op.drop_column("conversations", "model")
    op.drop_table("model_connections")
