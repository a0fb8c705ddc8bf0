"""Tools of MCP servers as last seen: a changed tool is used only once it is accepted."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base


class ServerToolRow(Base):
    """One version of a server's tool in a domain, by the fingerprint of its definition.

    `status`: accepted, pending, refused. The first version of a tool is accepted automatically.
    `domain_id` is null for what was refused in a domain that has been deleted since.
    """

    __tablename__ = "server_tools"
    __table_args__ = (
        Index("uq_server_tools_version", "domain_id", "server", "tool", "fingerprint", unique=True),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    domain_id: Mapped[UUID | None] = mapped_column(ForeignKey("domains.id", ondelete="SET NULL"))
    server: Mapped[str]
    tool: Mapped[str]
    fingerprint: Mapped[str]
    description: Mapped[JSON]
    status: Mapped[str]
    decided_by: Mapped[str | None]
    decided_at: Mapped[datetime | None]
    seen_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
