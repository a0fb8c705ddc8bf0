"""Reviews: who reads somebody else's session, why, and until when."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class ReviewRow(Base):
    """One review; its owner sees it. It permits to read the session until `ends_at`."""

    __tablename__ = "reviews"
    __table_args__ = (
        Index("ix_reviews_conversation_id", "conversation_id", text("begun_at DESC")),
        Index("ix_reviews_reviewer", "reviewer", "ends_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    reviewer: Mapped[str]
    reason: Mapped[str]
    begun_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    ends_at: Mapped[datetime]
