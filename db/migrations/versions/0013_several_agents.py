"""Several agents: the route of a turn, plans with their tasks, artifacts with versions."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0013"
down_revision = "0012"

MOMENT = sa.DateTime(timezone=True)
NOW = sa.text("clock_timestamp()")
EMPTY = sa.text("'{}'")
# However a version is deleted (with its conversation, by a host application), its content follows.
NOTE_ERASED = """
CREATE FUNCTION note_erased_content() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO erased_contents (key) VALUES (OLD.key) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$
"""
ON_DELETE = (
    "CREATE TRIGGER artifact_versions_erased AFTER DELETE ON artifact_versions"
    " FOR EACH ROW WHEN (OLD.key IS NOT NULL) EXECUTE FUNCTION note_erased_content()"
)


def upgrade() -> None:
    op.add_column("turns", sa.Column("route", JSONB(), nullable=True))
    op.add_column("turns", sa.Column("role", sa.String(), nullable=True))
    op.add_column("turns", sa.Column("waits_for", sa.String(), nullable=True))
    op.execute("UPDATE turns SET waits_for = 'people' WHERE status = 'waiting'")
    op.add_column("conversations", sa.Column("parent_id", sa.UUID(), nullable=True))
    _cascade("conversations", "parent_id", "conversations")
    op.create_index(
        "ix_conversations_parent",
        "conversations",
        ["parent_id"],
        postgresql_where=sa.text("parent_id IS NOT NULL"),
    )
    _create_plans()
    _create_tasks()
    _create_artifacts()
    op.create_table(
        "bundled_domains",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("added_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("name", name="pk_bundled_domains"),
    )


def _create_plans() -> None:
    op.create_table(
        "plans",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("conversation_id", sa.UUID(), nullable=False),
        sa.Column("turn_id", sa.UUID(), nullable=False),
        sa.Column("message_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("call_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False, server_default="plan"),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("reasoning", sa.String(), nullable=False, server_default=""),
        sa.Column("status", sa.String(), nullable=False, server_default="running"),
        sa.Column("created_at", MOMENT, nullable=False, server_default=NOW),
        sa.Column("finished_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_plans"),
    )
    _cascade("plans", "conversation_id", "conversations")
    _cascade("plans", "turn_id", "turns")
    op.create_index("uq_plans_call", "plans", ["turn_id", "message_id", "number"], unique=True)
    op.create_index("ix_plans_conversation", "plans", ["conversation_id"])
    op.create_index("ix_plans_created", "plans", ["created_at", "id"])
    op.create_index(
        "ix_plans_unfinished",
        "plans",
        ["created_at"],
        postgresql_where=sa.text("status IN ('running', 'waiting')"),
    )


def _create_tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("plan_id", sa.UUID(), nullable=False),
        sa.Column("conversation_id", sa.UUID(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("temp_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("depends_on", JSONB(), nullable=False, server_default=sa.text("'[]'")),
        sa.Column("input", JSONB(), nullable=True),
        sa.Column("on_failure", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False, server_default="pending"),
        sa.Column("tries", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("session_id", sa.UUID(), nullable=True),
        sa.Column("turn_id", sa.UUID(), nullable=True),
        sa.Column("output", JSONB(), nullable=True),
        sa.Column("error", JSONB(), nullable=True),
        sa.Column("started_at", MOMENT, nullable=True),
        sa.Column("finished_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
    )
    _cascade("tasks", "plan_id", "plans")
    _cascade("tasks", "conversation_id", "conversations")
    op.create_index("uq_tasks_temp_id", "tasks", ["plan_id", "temp_id"], unique=True)
    op.create_index("ix_tasks_conversation", "tasks", ["conversation_id"])
    is_running = sa.text("status = 'running'")
    op.create_index("ix_tasks_running", "tasks", ["plan_id"], postgresql_where=is_running)
    op.create_index(
        "uq_tasks_session",
        "tasks",
        ["session_id"],
        unique=True,
        postgresql_where=sa.text("session_id IS NOT NULL"),
    )


def _create_artifacts() -> None:
    op.create_table(
        "artifacts",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("conversation_id", sa.UUID(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False, server_default="1"),
        sa.Column("created_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("id", name="pk_artifacts"),
    )
    _cascade("artifacts", "conversation_id", "conversations")
    op.create_index("ix_artifacts_conversation", "artifacts", ["conversation_id", "created_at"])
    op.create_table(
        "artifact_versions",
        sa.Column("artifact_id", sa.UUID(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=True),
        sa.Column("turn_id", sa.UUID(), nullable=True),
        sa.Column("message_id", sa.String(), nullable=True),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("preview", JSONB(), nullable=False, server_default=EMPTY),
        sa.Column("origin", JSONB(), nullable=False, server_default=EMPTY),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("key", sa.String(), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("artifact_id", "version", name="pk_artifact_versions"),
        postgresql_with={"toast_tuple_target": "512"},
    )
    _cascade("artifact_versions", "artifact_id", "artifacts")
    op.create_index("ix_artifact_versions_turn", "artifact_versions", ["turn_id"])
    op.create_table(
        "erased_contents",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("erased_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("key", name="pk_erased_contents"),
    )
    op.execute(NOTE_ERASED)
    op.execute(ON_DELETE)


def _cascade(table: str, column: str, whole: str) -> None:
    """Add a foreign key that deletes rows together with the one they belong to."""
    name = f"fk_{table}_{column}_{whole}"
    op.create_foreign_key(name, table, whole, [column], ["id"], ondelete="CASCADE")


def downgrade() -> None:
    tables = (
        "bundled_domains",
        "artifact_versions",
        "artifacts",
        "erased_contents",
        "tasks",
        "plans",
    )
    for table in tables:
        op.drop_table(table)
    op.execute("DROP FUNCTION note_erased_content()")
    op.drop_column("conversations", "parent_id")
    op.drop_column("turns", "waits_for")
    op.drop_column("turns", "role")
    op.drop_column("turns", "route")
