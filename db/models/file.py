"""Uploaded files: what each is, how it was read, and corrections of that."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base


class FileRow(Base):
    """One file; its bytes are in DATA_DIR/files under its id, never under its name.

    Without a conversation it belongs to all of its owner's. `source` is its name in queries.
    `understood` is null until the file has been read with its `corrections`. `replaced_upload_of`:
    when the file was uploaded that this one replaced; null if it replaced none.
    """

    __tablename__ = "files"
    __table_args__ = (
        Index("ix_files_owner", "owner_id", text("created_at DESC"), text("id DESC")),
        Index("ix_files_conversation", "conversation_id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    owner_id: Mapped[str]
    conversation_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    name: Mapped[str]
    source: Mapped[str]
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str]
    format: Mapped[str]
    kind: Mapped[str]
    understood: Mapped[JSON | None]
    corrections: Mapped[JSON] = mapped_column(server_default=text("'{}'"))
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    replaced_upload_of: Mapped[datetime | None]


class ErasedFileRow(Base):
    """A file whose row was deleted, by itself or with its conversation, but not yet its bytes.

    A trigger of `files` adds it in the transaction that deletes.
    """

    __tablename__ = "erased_files"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    erased_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
