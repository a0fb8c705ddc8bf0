"""Artifacts: named results with versions, where their contents are, and contents to erase."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base


class ArtifactRow(Base):
    """A named result of a conversation; `version` is its newest one."""

    __tablename__ = "artifacts"
    __table_args__ = (Index("ix_artifacts_conversation", "conversation_id", "created_at"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    kind: Mapped[str]
    title: Mapped[str]
    version: Mapped[int] = mapped_column(server_default="1")
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))


class ArtifactVersionRow(Base):
    """One version, which never changes. Its content is in `content`, or in the store at `key`.

    `message_id` is the agent's message in the agent state that it belongs to; null until that is
    saved. `origin` says where it came from; `preview` is shown before the content is read.
    """

    __tablename__ = "artifact_versions"
    __table_args__ = (
        Index("ix_artifact_versions_turn", "turn_id"),
        {"postgresql_with": {"toast_tuple_target": 512}},
    )

    artifact_id: Mapped[UUID] = mapped_column(
        ForeignKey("artifacts.id", ondelete="CASCADE"), primary_key=True
    )
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    title: Mapped[str]
    agent: Mapped[str | None]
    turn_id: Mapped[UUID | None]
    message_id: Mapped[str | None]
    hash: Mapped[str]
    media_type: Mapped[str]
    size: Mapped[int] = mapped_column(BigInteger)
    preview: Mapped[JSON] = mapped_column(server_default=text("'{}'"))
    origin: Mapped[JSON] = mapped_column(server_default=text("'{}'"))
    content: Mapped[bytes | None]
    key: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))


class ErasedContentRow(Base):
    """A content still in the store although its version, or its conversation, was deleted.

    A trigger of `artifact_versions` adds it in the transaction that deletes.
    """

    __tablename__ = "erased_contents"

    key: Mapped[str] = mapped_column(primary_key=True)
    erased_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
