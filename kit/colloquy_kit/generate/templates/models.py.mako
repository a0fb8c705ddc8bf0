"""The tables of conversations: colloquy-kit brings their columns.

Written by `colloquy generate`, and yours: what you change is kept when it runs again.
"""

from uuid import UUID

from colloquy_kit.tables.mixins import (
    AgentStateMixin,
    ConversationMixin,
    DisplayMessageMixin,
)
from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

${imports}


class Conversation(ConversationMixin, ${base}):
    """A dialogue, and whose it is."""

    __tablename__ = "${tables[0]}"
% if owner:

    ${owner_field}: Mapped[${key}] = mapped_column(
        ForeignKey(${owner}.${owner_key}, ondelete="CASCADE"), index=True
    )
% endif


class AgentState(AgentStateMixin, ${base}):
    """What the model reads."""

    __tablename__ = "${tables[1]}"

    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey(Conversation.id, ondelete="CASCADE"), unique=True
    )


class DisplayMessage(DisplayMessageMixin, ${base}):
    """A piece of what people see."""

    __tablename__ = "${tables[2]}"

    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey(Conversation.id, ondelete="CASCADE")
    )
