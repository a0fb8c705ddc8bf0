"""Audit events: who changed or deleted what, kept after the thing itself is gone."""

from datetime import datetime

from sqlalchemy import BigInteger, Identity, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base


class AuditEventRow(Base):
    """One action of a person or of the software; a trigger refuses to change rows."""

    __tablename__ = "audit_events"
    __table_args__ = (
        Index("ix_audit_events_subject", "subject", "subject_id", "id"),
        Index("ix_audit_events_actor", "actor", "id"),
        Index("ix_audit_events_action", "action", "id"),
        Index("ix_audit_events_at", "at"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    actor: Mapped[str]
    action: Mapped[str]
    subject: Mapped[str]
    subject_id: Mapped[str]
    details: Mapped[JSON] = mapped_column(server_default=text("'{}'"))
