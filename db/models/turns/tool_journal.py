"""The tool journal: which calls of a running turn have begun, and their results."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base


class ToolJournalRow(Base):
    """One call, identified by its model message and number there; deleted when its turn ends."""

    __tablename__ = "tool_journal"

    turn_id: Mapped[UUID] = mapped_column(
        ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True
    )
    message_id: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    attempt: Mapped[int]
    name: Mapped[str]
    effect: Mapped[str]
    result: Mapped[JSON | None]
    started_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    finished_at: Mapped[datetime | None]
