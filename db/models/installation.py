"""The installation that a database belongs to."""

from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class InstallationRow(Base):
    """The one row, made at the first start; `store_id` marks the store of its large contents."""

    __tablename__ = "installation"
    __table_args__ = (Index("ix_installation_one", text("(true)"), unique=True),)

    id: Mapped[UUID] = mapped_column(primary_key=True, server_default=text("gen_random_uuid()"))
    store_id: Mapped[UUID | None]
