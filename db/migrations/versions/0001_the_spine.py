"""The core tables: domains, conversations, the two views, turns."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "domains",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("template", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("is_default", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_domains")),
        sa.UniqueConstraint("name", name=op.f("uq_domains_name")),
    )
    op.create_index(
        "uq_domains_default",
        "domains",
        ["is_default"],
        unique=True,
        postgresql_where=sa.text("is_default"),
    )
    op.create_table(
        "conversations",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("domain_id", sa.UUID(), nullable=True),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=True),
        sa.Column("organisation", sa.String(), nullable=True),
        sa.Column("title", sa.String(), server_default="", nullable=False),
        sa.Column(
            "search",
            postgresql.TSVECTOR(),
            sa.Computed(
                "to_tsvector('simple', regexp_replace(title, '[^[:alnum:]]+', ' ', 'g'))",
                persisted=True,
            ),
            nullable=False,
        ),
        sa.Column("domain_name", sa.String(), nullable=False),
        sa.Column("image_id", sa.UUID(), nullable=False),
        sa.Column("image", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("message_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("pinned", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("archived", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column(
            "metadata",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["domain_id"],
            ["domains.id"],
            name=op.f("fk_conversations_domain_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
        postgresql_with={"toast_tuple_target": 128, "fillfactor": 80},
    )
    op.create_index(
        "ix_conversations_all",
        "conversations",
        [sa.literal_column("updated_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_conversations_owner",
        "conversations",
        ["owner_id", sa.literal_column("updated_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_conversations_search", "conversations", ["search"], unique=False, postgresql_using="gin"
    )
    op.create_table(
        "agent_states",
        sa.Column("conversation_id", sa.UUID(), nullable=False),
        sa.Column("state_data", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("version", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("fk_agent_states_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("conversation_id", name=op.f("pk_agent_states")),
    )
    op.create_table(
        "display_messages",
        sa.Column("conversation_id", sa.UUID(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.UUID(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("turn_id", sa.UUID(), nullable=True),
        sa.Column("message_type", sa.String(), nullable=False),
        sa.Column("content_type", sa.String(), nullable=False),
        sa.Column("content", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("sequence", sa.Integer(), server_default="0", nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=True),
        sa.Column(
            "metadata",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("fk_display_messages_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("conversation_id", "position", name=op.f("pk_display_messages")),
        postgresql_with={"toast_tuple_target": 512, "fillfactor": 90},
    )
    op.create_table(
        "tool_results",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("conversation_id", sa.UUID(), nullable=False),
        sa.Column("result", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("fk_tool_results_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tool_results")),
    )
    op.create_index(
        op.f("ix_tool_results_conversation_id"), "tool_results", ["conversation_id"], unique=False
    )
    op.create_table(
        "turns",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("number", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("conversation_id", sa.UUID(), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=True),
        sa.Column("body_hash", sa.String(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("message_position", sa.Integer(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("status", sa.String(), server_default="queued", nullable=False),
        sa.Column("stop_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("enqueued_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("steps", sa.Integer(), server_default="0", nullable=False),
        sa.Column(
            "usage",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column("error", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("fk_turns_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
        postgresql_with={"fillfactor": 80},
    )
    op.create_index("ix_turns_conversation", "turns", ["conversation_id", "number"], unique=False)
    op.create_index(
        "ix_turns_unfinished",
        "turns",
        ["conversation_id", "number"],
        unique=False,
        postgresql_where=sa.text("status IN ('queued', 'running', 'waiting')"),
    )
    op.create_index(
        "uq_turns_active",
        "turns",
        ["conversation_id"],
        unique=True,
        postgresql_where=sa.text("status IN ('running', 'waiting')"),
    )
    op.create_index(
        "uq_turns_idempotency_key",
        "turns",
        ["owner_id", "idempotency_key"],
        unique=True,
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.create_table(
        "agent_state_deltas",
        sa.Column("conversation_id", sa.UUID(), nullable=False),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("delta", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("fk_agent_state_deltas_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("conversation_id", "version", name=op.f("pk_agent_state_deltas")),
    )


def downgrade() -> None:
    op.drop_table("agent_state_deltas")
    op.drop_index(
        "uq_turns_idempotency_key",
        table_name="turns",
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.drop_index(
        "uq_turns_active",
        table_name="turns",
        postgresql_where=sa.text("status IN ('running', 'waiting')"),
    )
    op.drop_index(
        "ix_turns_unfinished",
        table_name="turns",
        postgresql_where=sa.text("status IN ('queued', 'running', 'waiting')"),
    )
    op.drop_index("ix_turns_conversation", table_name="turns")
    op.drop_table("turns")
    op.drop_index(op.f("ix_tool_results_conversation_id"), table_name="tool_results")
    op.drop_table("tool_results")
    op.drop_table("display_messages")
    op.drop_table("agent_states")
    op.drop_index("ix_conversations_search", table_name="conversations", postgresql_using="gin")
    op.drop_index("ix_conversations_owner", table_name="conversations")
    op.drop_index("ix_conversations_all", table_name="conversations")
    op.drop_table("conversations")
    op.drop_index(
        "uq_domains_default", table_name="domains", postgresql_where=sa.text("is_default")
    )
    op.drop_table("domains")
