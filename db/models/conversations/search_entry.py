"""Search entries: the words that people read of each display message."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class SearchEntryRow(Base):
    """The words of one display message, and `owner:` with its owner's id and `kind:` with its type.

    A trigger of `display_messages` adds it (`migrations/versions/0001_baseline.sql`); a message
    without searchable text has none.
    """

    __tablename__ = "search_entries"
    # New entries go to a pending list; the writer that fills it has to merge it, so keep it short.
    # Unlogged, because entries can be rebuilt from the messages.
    __table_args__ = (
        Index(
            "ix_search_entries_words",
            "words",
            postgresql_using="gin",
            postgresql_with={"gin_pending_list_limit": 256},
        ),
        {"prefixes": ["UNLOGGED"]},
    )

    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    created_at: Mapped[datetime]
    words: Mapped[Any] = mapped_column(TSVECTOR)


class SearchIndexRow(Base):
    """Whether the entries are complete; otherwise up to which message they have been rebuilt.

    One row, and none after a crash of PostgreSQL, which empties unlogged tables.
    """

    __tablename__ = "search_index"
    __table_args__ = ({"prefixes": ["UNLOGGED"]},)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    is_complete: Mapped[bool]
    conversation_id: Mapped[UUID | None]
    position: Mapped[int | None]
