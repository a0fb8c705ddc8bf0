"""Uploaded files, and files whose bytes are still to be erased."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0010"
down_revision = "0009"

NOW = sa.text("clock_timestamp()")
MOMENT = sa.DateTime(timezone=True)
# However a row is deleted (alone, with its conversation, by a host application), its bytes follow.
NOTE_ERASED = """
CREATE FUNCTION note_erased_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO erased_files (id) VALUES (OLD.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$
"""
ON_DELETE = (
    "CREATE TRIGGER files_erased AFTER DELETE ON files"
    " FOR EACH ROW EXECUTE FUNCTION note_erased_file()"
)


def upgrade() -> None:
    op.create_table(
        "files",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("conversation_id", sa.UUID(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("understood", JSONB(), nullable=True),
        sa.Column("corrections", JSONB(), nullable=False, server_default=sa.text("'{}'")),
        sa.Column("created_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("id", name="pk_files"),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name="fk_files_conversation_id_conversations",
            ondelete="CASCADE",
        ),
    )
    newest = [sa.text("created_at DESC"), sa.text("id DESC")]
    op.create_index("ix_files_owner", "files", ["owner_id", *newest])
    op.create_index("ix_files_conversation", "files", ["conversation_id"])
    op.create_table(
        "erased_files",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("erased_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("id", name="pk_erased_files"),
    )
    op.execute(NOTE_ERASED)
    op.execute(ON_DELETE)


def downgrade() -> None:
    op.drop_table("files")
    op.drop_table("erased_files")
    op.execute("DROP FUNCTION note_erased_file()")
