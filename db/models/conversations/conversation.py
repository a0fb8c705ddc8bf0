"""Conversations: the owner, the title, and the image each was created with."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Computed, ForeignKey, Index, func, select, text
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, column_property, mapped_column

from colloquy_kit.tables.mixins import ConversationColumns
from db.base import JSON, Base
from db.models.domains.domain import DomainRow

# Split as messages are, so that "cc" and "1001" both find CC-1001; and whose it is, as one word.
TITLE_WORDS = "search_words(title) || array_to_tsvector(ARRAY[holder_word(owner_id, team)])"


class ConversationRow(ConversationColumns, Base):
    """A dialogue that a person can continue; on pages and in the API: session.

    `path` holds the ranges of positions that the active branch shows; null: all of them.
    `model` is the model last chosen for its turns; null: the default. `parent_id` is set if this
    conversation works on a task of that one; it is then listed only there. `domain_name` follows
    the domain when it is renamed; of a deleted domain, `stored_domain_name` is its last name.
    From `deletes_at` on it does not exist any more, and a worker deletes it; no list has it before.
    `last_accessed_at`: when somebody last read it, to the minute; a later `updated_at` counts too.
    """

    __tablename__ = "conversations"
    __table_args__ = (
        Index("ix_conversations_owner", "owner_id", text("updated_at DESC"), text("id DESC")),
        Index("ix_conversations_all", text("updated_at DESC"), text("id DESC")),
        Index("ix_conversations_image", "image_id", unique=True),
        Index("ix_conversations_search", "search", postgresql_using="gin"),
        Index(
            "ix_conversations_parent",
            "parent_id",
            postgresql_where=text("parent_id IS NOT NULL"),
        ),
        Index(
            "ix_conversations_deletes_at",
            "deletes_at",
            postgresql_where=text("deletes_at IS NOT NULL"),
        ),
        Index(
            "ix_conversations_team",
            "team",
            text("updated_at DESC"),
            text("id DESC"),
            postgresql_where=text("team IS NOT NULL"),
        ),
        # The image is written once. Stored out of line, it is not copied into the write-ahead log
        # whenever the number of messages changes.
        {"postgresql_with": {"toast_tuple_target": 128, "fillfactor": 80}},
    )

    domain_id: Mapped[UUID | None] = mapped_column(ForeignKey("domains.id", ondelete="SET NULL"))
    owner_id: Mapped[str]
    team: Mapped[str | None]
    search: Mapped[Any] = mapped_column(TSVECTOR, Computed(TITLE_WORDS, persisted=True))
    stored_domain_name: Mapped[str] = mapped_column("domain_name")
    image_id: Mapped[UUID] = mapped_column(default=uuid4)
    image: Mapped[JSON]
    message_count: Mapped[int] = mapped_column(server_default="0")
    pinned: Mapped[bool] = mapped_column(server_default=text("false"))
    archived: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    updated_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    last_accessed_at: Mapped[datetime | None]
    domain_version: Mapped[int | None]
    branch: Mapped[int] = mapped_column(server_default="1")
    path: Mapped[list[list[int | None]] | None] = mapped_column(JSONB)
    model: Mapped[str | None]
    parent_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    deletes_at: Mapped[datetime | None]
    domain_name: Mapped[str] = column_property(
        func.coalesce(
            select(DomainRow.name)
            .where(DomainRow.id == domain_id)
            .correlate_except(DomainRow)
            .scalar_subquery(),
            stored_domain_name,
        )
    )
