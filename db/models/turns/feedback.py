"""What people think of answers."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class FeedbackRow(Base):
    """One person's rating of a turn's answer: up or down, and a sentence."""

    __tablename__ = "feedback"
    __table_args__ = (Index("ix_feedback_conversation_id", "conversation_id"),)

    turn_id: Mapped[UUID] = mapped_column(
        ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[str] = mapped_column(primary_key=True)
    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    rating: Mapped[str]
    comment: Mapped[str] = mapped_column(server_default=text("''"))
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
