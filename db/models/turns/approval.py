"""Approvals: calls that turns wait for a person to decide on, and the decisions."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base


class ApprovalRow(Base):
    """One call, identified by its model message and its number there, as shown to people.

    `arguments_hash` is the hash of the arguments shown; no others may be approved. Edited arguments
    are in `decision`. `position` is the display message that asks. Decided only once: `status`
    moves from pending to decided, expired or withdrawn.
    """

    __tablename__ = "approvals"
    __table_args__ = (
        Index("uq_approvals_call", "turn_id", "message_id", "number", unique=True),
        Index("ix_approvals_pending", "created_at", postgresql_where=text("status = 'pending'")),
        Index("ix_approvals_conversation", "conversation_id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    turn_id: Mapped[UUID] = mapped_column(ForeignKey("turns.id", ondelete="CASCADE"))
    message_id: Mapped[str]
    number: Mapped[int]
    call_id: Mapped[str]
    tool: Mapped[str]
    arguments: Mapped[JSON]
    arguments_hash: Mapped[str]
    request: Mapped[JSON] = mapped_column(server_default=text("'{}'"))
    position: Mapped[int]
    status: Mapped[str] = mapped_column(server_default="pending")
    decision: Mapped[JSON | None]
    decided_by: Mapped[str | None]
    decided_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
