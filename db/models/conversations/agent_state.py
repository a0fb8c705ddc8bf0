"""Agent states: what the model reads, as a JSONB snapshot and the JSONB deltas since."""

from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from colloquy_kit.tables.mixins import AgentStateColumns
from db.base import JSON, Base


class AgentStateRow(AgentStateColumns, Base):
    """The snapshot at `version`; a step adds a delta and leaves this row unchanged.

    Host applications read the view `agent_states`, which returns each complete state.
    `{"$shown": 17}` in place of a text, here and in deltas, is the text of display message 17.
    """

    __tablename__ = "agent_state_snapshots"

    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )


class AgentStateDeltaRow(Base):
    """What one saved step changed; applied in order of `version`, which has no gaps.

    Version 0 is the empty state, and no delta is ever dropped, so every past state can be restored.
    `calls` records, by reference, what was sent to the models that produced the step.
    """

    __tablename__ = "agent_state_deltas"

    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    version: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    delta: Mapped[JSON]
    calls: Mapped[JSON | None]


class SentContentRow(Base):
    """Content a model was sent that is not a message of the state: prompts, tools, edits."""

    __tablename__ = "sent_contents"

    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    hash: Mapped[str] = mapped_column(primary_key=True)
    content: Mapped[JSON]
