"""Webhooks, and what each is to be told. Triggers of the schema add the deliveries."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ARRAY, BigInteger, ForeignKey, Identity, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class WebhookRow(Base):
    """Where the events of a person's sessions are sent, or of a team's, or of everyone's.

    `set_by` is the person whose rights must reach these sessions; `paused` says why nothing is
    sent; `failing_since` is the first failure after the last success. Secrets are encrypted.
    """

    __tablename__ = "webhooks"
    __table_args__ = (Index("ix_webhooks_principal", "principal_type", "principal_id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    principal_type: Mapped[str]
    principal_id: Mapped[str] = mapped_column(server_default=text("''"))
    set_by: Mapped[str]
    name: Mapped[str]
    url: Mapped[str]
    events: Mapped[list[str]] = mapped_column(ARRAY(String))
    domain_id: Mapped[UUID | None]
    sealed_secret: Mapped[str]
    sealed_old_secret: Mapped[str | None]
    old_secret_until: Mapped[datetime | None]
    paused: Mapped[str | None]
    failing_since: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))


class WebhookDeliveryRow(Base):
    """One event for one webhook: which row it is about, not what that says.

    `number` is the order; `status` is pending, delivered, given_up or void; `due_at` is when it may
    be tried next, and while it is tried, when that try counts as lost.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        Index("ix_webhook_deliveries_webhook_id", "webhook_id", text("number DESC")),
        Index(
            "ix_webhook_deliveries_pending", "webhook_id", "conversation_id", "number",
            postgresql_where=text("status = 'pending'"),
        ),
        Index("ix_webhook_deliveries_created_at", "created_at"),
    )  # fmt: skip

    number: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    id: Mapped[UUID] = mapped_column(unique=True, server_default=text("gen_random_uuid()"))
    webhook_id: Mapped[UUID] = mapped_column(ForeignKey("webhooks.id", ondelete="CASCADE"))
    event: Mapped[str]
    conversation_id: Mapped[UUID]
    turn_id: Mapped[UUID | None]
    position: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    status: Mapped[str] = mapped_column(server_default="pending")
    attempts: Mapped[int] = mapped_column(server_default="0")
    due_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    ended_at: Mapped[datetime | None]
    answer_status: Mapped[int | None]
    answer: Mapped[str] = mapped_column(server_default=text("''"))
