"""Turns: the work that messages ask for, the workers doing it, and its progress."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base

UNFINISHED = "status IN ('queued', 'running', 'waiting')"


class TurnRow(Base):
    """The work on one message.

    `attempt` fences writes; after `lease_until` the worker counts as lost. `message_position` is
    the message's position among the display messages; null while it waits behind another turn.
    `heartbeat_at` is the worker's last heartbeat; `lost_seconds` is the total time without a worker
    after losses; `losses_in_row` counts the consecutive ones of its `losses`, all of them when
    `lost_at_step` steps were saved. `state_version` is the first version of the state that contains
    its message; `fork_of` is the first turn of which this one is another version; `decided_at` is
    when everything it waits for was decided, so that it may continue; `model` is the one chosen for
    it, null: the default; `route` says why its agent was chosen, null if the domain has no manager;
    `role` is the role of the person who asked; `waits_for` says whether it waits for people or
    for tasks, null: for neither any more; `request` is the request that accepted it, by its id.
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

    # Constant columns come first: an update logs from the first changed byte to the last.
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
    request: Mapped[JSON | None]
