"""Branches: paths through a conversation with edited messages or repeated answers."""

from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class BranchRow(Base):
    """One path, as ranges of positions, and the state's version at its tip.

    There is no row until a conversation is forked. The active branch's path is in the conversation;
    its row here holds the path as it was when the branch was last left.
    """

    __tablename__ = "branches"

    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    path: Mapped[list[list[int | None]]] = mapped_column(JSONB)
    state_version: Mapped[int] = mapped_column(BigInteger)
