"""Agent states: what the model reads, as a JSONB snapshot and the JSONB deltas since."""

from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base


class AgentStateRow(Base):
    """The snapshot at `snapshot_version`; the state is at `version`, deltas apart."""

    __tablename__ = "agent_states"
    __table_args__ = ({"postgresql_with": {"toast_tuple_target": 128, "fillfactor": 80}},)

    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    state_data: Mapped[JSON]
    version: Mapped[int] = mapped_column(BigInteger, server_default="0")
    snapshot_version: Mapped[int] = mapped_column(BigInteger, server_default="0")
    snapshot_bytes: Mapped[int] = mapped_column(BigInteger, server_default="0")
    delta_bytes: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))


class AgentStateDeltaRow(Base):
    """What one saved step changed; applied in order of `version`."""

    __tablename__ = "agent_state_deltas"
    __table_args__ = ({"postgresql_with": {"toast_tuple_target": 512}},)

    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("agent_states.conversation_id", ondelete="CASCADE"), primary_key=True
    )
    version: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    delta: Mapped[JSON]
