"""Plans: the task graphs that managers run, and work delegated to a sub-agent."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base


class PlanRow(Base):
    """One task graph, started once by a turn's call, which `message_id` and `number` identify.

    A call of a sub-agent is a plan of one task, as `kind` says. The turn waits until it ends.
    """

    __tablename__ = "plans"
    __table_args__ = (
        Index("uq_plans_call", "turn_id", "message_id", "number", unique=True),
        Index("ix_plans_conversation", "conversation_id"),
        Index("ix_plans_created", "created_at", "id"),
        Index(
            "ix_plans_unfinished",
            "created_at",
            postgresql_where=text("status IN ('running', 'waiting')"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    turn_id: Mapped[UUID] = mapped_column(ForeignKey("turns.id", ondelete="CASCADE"))
    message_id: Mapped[str]
    number: Mapped[int]
    call_id: Mapped[str]
    kind: Mapped[str] = mapped_column(server_default="plan")
    name: Mapped[str]
    reasoning: Mapped[str] = mapped_column(server_default="")
    status: Mapped[str] = mapped_column(server_default="running")
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    finished_at: Mapped[datetime | None]


class TaskRow(Base):
    """One task of a plan. The turn `turn_id` works on it in its own session, `session_id`.

    `depends_on` names tasks by their `temp_id`; `input` may refer to their output;
    `on_failure` says what happens when it fails.
    """

    __tablename__ = "tasks"
    __table_args__ = (
        Index("uq_tasks_temp_id", "plan_id", "temp_id", unique=True),
        Index("ix_tasks_conversation", "conversation_id"),
        Index("ix_tasks_running", "plan_id", postgresql_where=text("status = 'running'")),
        Index(
            "uq_tasks_session",
            "session_id",
            unique=True,
            postgresql_where=text("session_id IS NOT NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    plan_id: Mapped[UUID] = mapped_column(ForeignKey("plans.id", ondelete="CASCADE"))
    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    place: Mapped[int]
    temp_id: Mapped[str]
    name: Mapped[str]
    description: Mapped[str]
    agent: Mapped[str]
    depends_on: Mapped[list[str]] = mapped_column(JSONB, server_default=text("'[]'"))
    input: Mapped[JSON | None]
    on_failure: Mapped[str]
    status: Mapped[str] = mapped_column(server_default="pending")
    tries: Mapped[int] = mapped_column(server_default="0")
    session_id: Mapped[UUID | None]
    turn_id: Mapped[UUID | None]
    output: Mapped[JSON | None]
    error: Mapped[JSON | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
