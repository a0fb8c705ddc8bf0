"""The audit trail: who changed, decided or deleted what; events are only ever added."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import insert
from sqlalchemy.orm import Session

from db.models.audit_event import AuditEventRow

SOFTWARE = "colloquy"  # the actor of what the software does by itself, such as retention


def record(
    session: Session,
    actor: str,
    action: str,
    subject: str,
    subject_id: UUID | str,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Note an act, in the transaction that does it: neither is there without the other.

    `actor` is a person's id or SOFTWARE; `action` a verb of the past, such as `archived`;
    `subject` the kind of thing. `details` hold names and numbers, never what people wrote.
    """
    session.execute(
        insert(AuditEventRow).values(
            actor=actor,
            action=action,
            subject=subject,
            subject_id=str(subject_id),
            details=dict(details or {}),
        )
    )
