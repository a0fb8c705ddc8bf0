"""The audit trail: who changed, decided or deleted what. Events are only ever added."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import insert
from sqlalchemy.orm import Session

from db.models.audit_event import AuditEventRow

SOFTWARE = "colloquy"  # the actor of automatic actions, such as retention


def record(
    session: Session,
    actor: str,
    action: str,
    subject: str,
    subject_id: UUID | str,
    details: Mapping[str, Any] | None = None,
) -> int:
    """Record an action in the transaction that performs it, so that neither exists alone.

    `actor` is a person's id or SOFTWARE; `action` is a past participle, such as `archived`;
    `subject` is the kind of object. `details` hold names and numbers, never what people wrote.
    Return the event's id.
    """
    event = insert(AuditEventRow).values(
        actor=actor,
        action=action,
        subject=subject,
        subject_id=str(subject_id),
        details=dict(details or {}),
    )
    return session.execute(event.returning(AuditEventRow.id)).scalar_one()
