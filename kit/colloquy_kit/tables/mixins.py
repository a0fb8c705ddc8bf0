"""The columns of conversations, agent states and display messages, as mixins for any base.

A host's class adds its table's name, whose it is (an owner column), and the foreign keys:

    class DisplayMessage(DisplayMessageMixin, Base):
        __tablename__ = "display_messages"
        conversation_id: Mapped[UUID] = mapped_column(ForeignKey(Conversation.id))

The `…Columns` are what Colloquy's own tables have, too. On PostgreSQL documents are JSONB, on other
databases JSON.
"""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import JSON as PlainJSON
from sqlalchemy import BigInteger, Connection, DateTime, Index, event, func, inspect
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, Mapper, declared_attr, mapped_column

from colloquy_kit.errors import Unchangeable
from colloquy_kit.messages.kinds import MessageStatus, moves_forward
from colloquy_kit.types import JSON

OTHERS = ("sqlite", "mysql", "mariadb", "oracle", "mssql")
DOCUMENT = JSONB(none_as_null=True).with_variant(PlainJSON(none_as_null=True), *OTHERS)
MOMENT = DateTime(timezone=True)
FIRST = -1  # of a table's columns; a class's own come after those of its mixins otherwise


def _now() -> datetime:
    return datetime.now(UTC)


class ConversationColumns:
    """What every conversation has; `version` counts its changes."""

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4, sort_order=FIRST)
    title: Mapped[str] = mapped_column(default="")
    version: Mapped[int] = mapped_column(default=1)
    metadata_: Mapped[JSON] = mapped_column("metadata", DOCUMENT, default=dict)


class AgentStateColumns:
    """What the model reads, and how often it was saved."""

    state_data: Mapped[JSON] = mapped_column(DOCUMENT)
    version: Mapped[int] = mapped_column(BigInteger, default=0)


class DisplayMessageColumns:
    """A piece of what people see; `sequence` orders the pieces of one message."""

    message_type: Mapped[str]
    content_type: Mapped[str]
    content: Mapped[JSON] = mapped_column(DOCUMENT)
    sequence: Mapped[int] = mapped_column(default=0)
    status: Mapped[str] = mapped_column(default=MessageStatus.COMPLETED.value, active_history=True)
    metadata_: Mapped[JSON] = mapped_column("metadata", DOCUMENT, default=dict)


class ConversationMixin(ConversationColumns):
    """A host's conversation; `scope` is who created it: `{"type", "id"}`."""

    scope: Mapped[JSON | None] = mapped_column(DOCUMENT)
    inserted_at: Mapped[datetime] = mapped_column(MOMENT, default=_now, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(
        MOMENT, default=_now, server_default=func.now(), onupdate=_now, index=True
    )


class AgentStateMixin(AgentStateColumns):
    """A host's agent state; the class adds a `conversation_id`, which is unique."""

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4, sort_order=FIRST)
    inserted_at: Mapped[datetime] = mapped_column(MOMENT, default=_now, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(
        MOMENT, default=_now, server_default=func.now(), onupdate=_now
    )


class DisplayMessageMixin(DisplayMessageColumns):
    """A host's display message; the class adds a `conversation_id`, which is indexed here.

    A stored one does not change, but for its status, which moves forward: a session refuses to
    flush any other change. (A statement such as `update(DisplayMessage)` is not looked at.)
    """

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4, sort_order=FIRST)
    inserted_at: Mapped[datetime] = mapped_column(MOMENT, default=_now, server_default=func.now())

    @declared_attr.directive
    @classmethod
    def __table_args__(cls) -> tuple[Any, ...]:
        """Return the index in whose order a conversation is read; a class may have its own."""
        table: str = cls.__tablename__  # type: ignore[attr-defined]  # the host's class has it
        return (Index(f"ix_{table}_shown", "conversation_id", "inserted_at", "sequence"),)


@event.listens_for(DisplayMessageMixin, "before_update", propagate=True)
def _refuse_changes(_: Mapper[Any], __: Connection, row: DisplayMessageMixin) -> None:
    """Raise Unchangeable if anything but the status has changed, or the status has gone back."""
    for attribute in inspect(row).attrs:
        history = attribute.history
        if not history.has_changes():
            continue
        before = history.deleted[0] if history.deleted else None
        if attribute.key != "status":
            name = attribute.key.rstrip("_")
            raise Unchangeable(f"{Unchangeable.__doc__} Its {name} was to change.")
        if before is not None and not moves_forward(before, row.status):
            raise Unchangeable(f"A display message that is {before} cannot become {row.status}.")
