"""Display messages: what people see; rows are append-only, and their status moves forward."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, text
from sqlalchemy.orm import Mapped, mapped_column

from colloquy_kit.tables.mixins import DisplayMessageColumns
from db.base import JSON, Base


class DisplayMessageRow(DisplayMessageColumns, Base):
    """One piece of content on the screen; `position` counts up per conversation without gaps."""

    __tablename__ = "display_messages"
    # Free space on each table page, so that the end of a call changes a few bytes in place.
    __table_args__ = ({"postgresql_with": {"toast_tuple_target": 512, "fillfactor": 90}},)

    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[UUID] = mapped_column(default=uuid4, server_default=text("gen_random_uuid()"))
    turn_id: Mapped[UUID | None]
    agent: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=text("now()"))


class ToolResultRow(Base):
    """A tool's complete table, of which the display message holds only the first rows."""

    __tablename__ = "tool_results"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), index=True
    )
    result: Mapped[JSON]
    created_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
