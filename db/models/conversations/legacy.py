"""What conversations and domains were called in the older system that they come from."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class LegacyIdRow(Base):
    """An id by which a conversation was known: its own, its image's, its session's, its agent's.

    `plain_id`: without the blanks around it and without case, as it is looked for.
    """

    __tablename__ = "legacy_ids"
    __table_args__ = (Index("ix_legacy_ids_plain_id", "plain_id"),)

    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    legacy_id: Mapped[str] = mapped_column(primary_key=True)
    plain_id: Mapped[str]


class LegacyDomainRow(Base):
    """A domain that was made from the older system's; `notes` say what of it was left out."""

    __tablename__ = "legacy_domains"

    legacy_id: Mapped[str] = mapped_column(primary_key=True)
    domain_id: Mapped[UUID] = mapped_column(ForeignKey("domains.id", ondelete="CASCADE"))
    notes: Mapped[list[str]] = mapped_column(JSONB)
