"""Links through which others read a session."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "session_links",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("conversation_id", sa.UUID(), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column(
            "created_at", MOMENT, nullable=False, server_default=sa.text("clock_timestamp()")
        ),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_session_links"),
        sa.UniqueConstraint("token_hash", name="uq_session_links_token_hash"),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name="fk_session_links_conversation_id_conversations",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_session_links_conversation", "session_links", ["conversation_id"])


def downgrade() -> None:
    op.drop_table("session_links")
