"""Domains: configuration templates, and the groups of conversations created from them."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base


class DomainRow(Base):
    """A template; `template` holds its configuration without the name."""

    __tablename__ = "domains"
    __table_args__ = (
        Index("uq_domains_default", "is_default", unique=True, postgresql_where=text("is_default")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str] = mapped_column(unique=True)
    template: Mapped[JSON]
    version: Mapped[int] = mapped_column(server_default="1")
    is_default: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    updated_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    archived: Mapped[bool] = mapped_column(server_default=text("false"))


class DomainVersionRow(Base):
    """A domain as it was at one version."""

    __tablename__ = "domain_versions"

    domain_id: Mapped[UUID] = mapped_column(
        ForeignKey("domains.id", ondelete="CASCADE"), primary_key=True
    )
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str]
    template: Mapped[JSON]
    changed_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))


class BundledDomainRow(Base):
    """A bundled domain that was added: once only, even if it was changed or deleted since."""

    __tablename__ = "bundled_domains"

    name: Mapped[str] = mapped_column(primary_key=True)
    added_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
