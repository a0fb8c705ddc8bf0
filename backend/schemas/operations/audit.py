"""The wire contract of the audit trail."""

from datetime import datetime

from pydantic import Field

from backend.schemas.wire import Wire
from backend.types import JSON


class AuditEvent(Wire):
    """One action of a person or of the software, in names and numbers."""

    id: int
    at: datetime
    actor: str = Field(
        description="A person's id; `colloquy`: the software; empty: somebody who did not sign in."
    )
    actor_name: str | None = Field(description="The person's name today.")
    action: str = Field(examples=["signed_in", "exported", "changed"])
    subject: str = Field(examples=["user", "session", "domain"])
    subject_id: str
    subject_name: str | None = Field(
        description="The name today, where the subject is a person, a team or a domain."
    )
    details: JSON


class AuditPage(Wire):
    """A keyset page of the audit trail, newest first."""

    items: list[AuditEvent]
    next_cursor: str | None


class AuditKinds(Wire):
    """The actions and subjects that the audit trail has, by name."""

    actions: list[str]
    subjects: list[str]
