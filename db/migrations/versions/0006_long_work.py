"""Approvals, branches, what models were sent, versions of domains and tools, usage, audit.

All new columns come last and are optional, so that code of the previous version can still write.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0006"
down_revision = "0005"

NOW = sa.text("clock_timestamp()")
MOMENT = sa.DateTime(timezone=True)
NEW_TABLES = (
    "sent_contents",
    "approvals",
    "audit_events",
    "branches",
    "usage_days",
    "server_tools",
    "domain_versions",
)
NEW_COLUMNS: tuple[tuple[str, sa.Column[Any]], ...] = (
    ("turns", sa.Column("state_version", sa.BigInteger())),
    ("turns", sa.Column("fork_of", sa.UUID())),
    ("turns", sa.Column("decided_at", MOMENT)),
    ("conversations", sa.Column("domain_version", sa.Integer())),
    ("conversations", sa.Column("branch", sa.Integer(), nullable=False, server_default="1")),
    ("conversations", sa.Column("path", JSONB())),
    ("agent_state_deltas", sa.Column("calls", JSONB())),
    (
        "domains",
        sa.Column("archived", sa.Boolean(), nullable=False, server_default=sa.text("false")),
    ),
)


def upgrade() -> None:
    for table, column in NEW_COLUMNS:
        op.add_column(table, column)
    forks = sa.text("fork_of IS NOT NULL")
    op.create_index(
        "ix_turns_forks", "turns", ["conversation_id", "number"], postgresql_where=forks
    )
    _create_sent_contents()
    _create_approvals()
    _create_audit_events()
    _create_branches()
    _create_usage_days()
    _create_server_tools()
    _create_domain_versions()


def downgrade() -> None:
    for table in reversed(NEW_TABLES):
        op.drop_table(table)
    for table, column in reversed(NEW_COLUMNS):
        op.drop_column(table, column.name)


def _create_sent_contents() -> None:
    op.create_table(
        "sent_contents",
        _owner("conversations", "conversation_id", "sent_contents"),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("content", JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("conversation_id", "hash", name="pk_sent_contents"),
    )


def _create_approvals() -> None:
    op.create_table(
        "approvals",
        sa.Column("id", sa.UUID(), nullable=False),
        _owner("conversations", "conversation_id", "approvals"),
        _owner("turns", "turn_id", "approvals"),
        sa.Column("message_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("call_id", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("arguments", JSONB(), nullable=False),
        sa.Column("arguments_hash", sa.String(), nullable=False),
        sa.Column("request", JSONB(), nullable=False, server_default=sa.text("'{}'")),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False, server_default="pending"),
        sa.Column("decision", JSONB()),
        sa.Column("decided_by", sa.String()),
        sa.Column("decided_at", MOMENT),
        sa.Column("expires_at", MOMENT),
        sa.Column("created_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("id", name="pk_approvals"),
    )
    call = ["turn_id", "message_id", "number"]
    op.create_index("uq_approvals_call", "approvals", call, unique=True)
    pending = sa.text("status = 'pending'")
    op.create_index("ix_approvals_pending", "approvals", ["created_at"], postgresql_where=pending)
    op.create_index("ix_approvals_conversation", "approvals", ["conversation_id"])


def _create_audit_events() -> None:
    op.create_table(
        "audit_events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("at", MOMENT, nullable=False, server_default=NOW),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("subject_id", sa.String(), nullable=False),
        sa.Column("details", JSONB(), nullable=False, server_default=sa.text("'{}'")),
        sa.PrimaryKeyConstraint("id", name="pk_audit_events"),
    )
    op.create_index("ix_audit_events_subject", "audit_events", ["subject", "subject_id", "id"])


def _create_branches() -> None:
    op.create_table(
        "branches",
        _owner("conversations", "conversation_id", "branches"),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("path", JSONB(), nullable=False),
        sa.Column("state_version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("conversation_id", "number", name="pk_branches"),
    )


def _create_usage_days() -> None:
    counted = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
    op.create_table(
        "usage_days",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("domain_name", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("model_calls", sa.Integer(), nullable=False, server_default="0"),
        *(sa.Column(name, sa.BigInteger(), nullable=False, server_default="0") for name in counted),
        sa.Column("cost", sa.Float(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("day", "owner_id", "domain_name", "model", name="pk_usage_days"),
        postgresql_with={"fillfactor": "50"},
    )
    op.create_index("ix_usage_days_domain", "usage_days", ["domain_name", "day"])
    op.execute(_USED_BEFORE)


_NAMES = (
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
    "model_calls",
    "cost",
)
# Usage of turns that ended before there was a ledger; their models were not recorded.
_USED_BEFORE = (
    f"INSERT INTO usage_days (day, owner_id, domain_name, model, turns, {', '.join(_NAMES)})"  # noqa: S608  (constants)
    " SELECT t.finished_at::date, t.owner_id, c.domain_name,"
    " coalesce(c.image ->> 'model', 'unknown'), count(*), "
    + ", ".join(f"sum(coalesce(t.usage ->> '{name}', '0')::float8)" for name in _NAMES)
    + " FROM turns t JOIN conversations c ON c.id = t.conversation_id"
    " WHERE t.finished_at IS NOT NULL AND t.usage ? 'model_calls' GROUP BY 1, 2, 3, 4"
)


def _create_server_tools() -> None:
    op.create_table(
        "server_tools",
        sa.Column("id", sa.UUID(), nullable=False),
        _owner("domains", "domain_id", "server_tools"),
        sa.Column("server", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("description", JSONB(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("decided_by", sa.String()),
        sa.Column("decided_at", MOMENT),
        sa.Column("seen_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("id", name="pk_server_tools"),
    )
    version = ["domain_id", "server", "tool", "fingerprint"]
    op.create_index("uq_server_tools_version", "server_tools", version, unique=True)


def _create_domain_versions() -> None:
    op.create_table(
        "domain_versions",
        _owner("domains", "domain_id", "domain_versions"),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("template", JSONB(), nullable=False),
        sa.Column("changed_by", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("domain_id", "version", name="pk_domain_versions"),
    )
    op.execute(
        "INSERT INTO domain_versions (domain_id, version, name, template, changed_by, created_at)"
        " SELECT id, version, name, template, '', updated_at FROM domains"
    )


def _owner(table: str, column: str, of: str) -> sa.Column[Any]:
    """Return a foreign key column to the row with which this one is deleted."""
    name = f"fk_{of}_{column}"
    key = sa.ForeignKey(f"{table}.id", ondelete="CASCADE", name=name)
    return sa.Column(column, sa.UUID(as_uuid=True), key, nullable=False)
