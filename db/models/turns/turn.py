"""Turns: the work that messages ask for, who does it, and how far it has come."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base

UNFINISHED = "status IN ('queued', 'running', 'waiting')"


class TurnRow(Base):
    """One message's work. `attempt` fences writes; `lease_until` says when a worker is lost.

    `message_position` is where the message stands among the display messages; null while it waits
    behind another turn. `heartbeat_at` is its worker's last heartbeat; `lost_seconds` is how
    long, in all, it was without one after losing one; `losses_in_row` is how many of its `losses`
    came one after another while `lost_at_step` steps were saved. `state_version` is that of the
    state which its message was the first to be part of; `fork_of` the first turn of which this one
    is another version; `decided_at` when all that it waits for was decided, so that it may go on;
    `model` the one that was chosen for it, null: the default; `route` why its agent was chosen,
    null where the domain has no manager; `role` that of the person who asked; `waits_for` says
    whether it waits for people or for tasks, where it has waited.
    """

    __tablename__ = "turns"
    __table_args__ = (
        Index(
            "uq_turns_active",
            "conversation_id",
            unique=True,
            postgresql_where=text("status IN ('running', 'waiting')"),
        ),
        Index(
            "uq_turns_idempotency_key",
            "owner_id",
            "idempotency_key",
            unique=True,
            postgresql_where=text("idempotency_key IS NOT NULL"),
        ),
        Index("ix_turns_conversation", "conversation_id", "number"),
        Index(
            "ix_turns_unfinished", "conversation_id", "number", postgresql_where=text(UNFINISHED)
        ),
        Index(
            "ix_turns_created",
            "created_at",
            postgresql_using="brin",
            postgresql_with={"pages_per_range": "16", "autosummarize": "on"},
        ),
        Index(
            "ix_turns_forks",
            "conversation_id",
            "number",
            postgresql_where=text("fork_of IS NOT NULL"),
        ),
        Index("ix_turns_failed", "number", postgresql_where=text("status = 'failed'")),
        {"postgresql_with": {"fillfactor": 80}},
    )

    # What never changes comes first: an update logs from the first changed byte to the last.
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    number: Mapped[int] = mapped_column(BigInteger, Identity(always=True))
    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    owner_id: Mapped[str]
    agent: Mapped[str]
    message: Mapped[str]
    idempotency_key: Mapped[str | None]
    body_hash: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    message_position: Mapped[int | None]
    started_at: Mapped[datetime | None]
    worker: Mapped[str | None]
    attempt: Mapped[int] = mapped_column(server_default="0")
    losses: Mapped[int] = mapped_column(server_default="0")
    status: Mapped[str] = mapped_column(server_default="queued")
    stop_requested: Mapped[bool] = mapped_column(server_default=text("false"))
    lease_until: Mapped[datetime | None]
    enqueued_at: Mapped[datetime | None]
    steps: Mapped[int] = mapped_column(server_default="0")
    usage: Mapped[JSON] = mapped_column(server_default=text("'{}'"))
    error: Mapped[JSON | None]
    finished_at: Mapped[datetime | None]
    heartbeat_at: Mapped[datetime | None]
    stop_requested_at: Mapped[datetime | None]
    model_retry_at: Mapped[datetime | None]
    model_retry_reason: Mapped[str | None]
    model_retries: Mapped[int] = mapped_column(server_default="0")
    lost_seconds: Mapped[float] = mapped_column(server_default="0")
    unknown_outcomes: Mapped[int] = mapped_column(server_default="0")
    state_version: Mapped[int | None] = mapped_column(BigInteger)
    fork_of: Mapped[UUID | None]
    decided_at: Mapped[datetime | None]
    losses_in_row: Mapped[int] = mapped_column(server_default="0")
    lost_at_step: Mapped[int | None]
    model: Mapped[str | None]
    route: Mapped[JSON | None]
    role: Mapped[str | None]
    waits_for: Mapped[str | None]
