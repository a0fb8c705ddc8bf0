"""The tool journal, so that no call runs twice; the number of workers a turn has lost."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("turns", sa.Column("losses", sa.Integer(), server_default="0", nullable=False))
    failed = sa.text("status = 'failed'")
    op.create_index("ix_turns_failed", "turns", ["number"], postgresql_where=failed)
    op.create_table(
        "tool_journal",
        sa.Column("turn_id", sa.UUID(), nullable=False),
        sa.Column("message_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("effect", sa.String(), nullable=False),
        sa.Column("result", postgresql.JSONB(), nullable=True),
        sa.Column(
            "started_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name=op.f("fk_tool_journal_turn_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("turn_id", "message_id", "number", name=op.f("pk_tool_journal")),
    )


def downgrade() -> None:
    op.drop_table("tool_journal")
    op.drop_index("ix_turns_failed", "turns")
    op.drop_column("turns", "losses")
