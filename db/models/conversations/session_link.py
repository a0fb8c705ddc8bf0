"""Links through which others in the installation read a session."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class SessionLinkRow(Base):
    """One link. Only the digest of its token is stored.

    It ends when it expires, is revoked, or `made_by` is disabled.
    """

    __tablename__ = "session_links"
    __table_args__ = (Index("ix_session_links_conversation", "conversation_id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    token_hash: Mapped[str] = mapped_column(unique=True)
    made_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
