"""Imports: uploads of other programs' exports, and the conversations that came of them."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, ForeignKey, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base


class ImportRow(Base):
    """One upload: inspected, then imported by a worker. Its bytes are in DATA_DIR/imports.

    `inspection` is what was found in it; `done` counts the conversations that were dealt with,
    `counts` by what became of them, `report` names those that were not simply imported. `attempt`
    fences the writes of a worker that lost its lease. `allows` is what the token allowed that
    started it: the import may do no more.
    """

    __tablename__ = "imports"
    __table_args__ = (
        Index("ix_imports_owner", "owner_id", text("created_at DESC"), text("id DESC")),
        Index("ix_imports_running", "started_at", postgresql_where=text("status = 'running'")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    owner_id: Mapped[str]
    name: Mapped[str]
    size: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str]
    domain_id: Mapped[UUID | None]
    allows: Mapped[str | None]
    inspection: Mapped[JSON]
    done: Mapped[int] = mapped_column(server_default="0")
    counts: Mapped[JSON] = mapped_column(server_default=text("'{}'"))
    report: Mapped[list[JSON]] = mapped_column(JSONB, server_default=text("'[]'"))
    error: Mapped[str | None]
    attempt: Mapped[int] = mapped_column(server_default="0")
    lease_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class ImportedConversationRow(Base):
    """Where a conversation came from: importing it again finds it. Deleted with it.

    `digest` tells whether it has changed there since; `messages` is how many it had.
    """

    __tablename__ = "imported_conversations"
    __table_args__ = (Index("ix_imported_conversations_conversation", "conversation_id"),)

    owner_id: Mapped[str] = mapped_column(primary_key=True)
    source: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = mapped_column(primary_key=True)
    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    digest: Mapped[str]
    messages: Mapped[int]
