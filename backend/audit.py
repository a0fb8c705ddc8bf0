"""The audit trail: who changed, decided or deleted what. Events are only ever added."""

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import event, insert
from sqlalchemy.orm import Session

from backend.logs.setup import AUDIT
from db.models.audit_event import AuditEventRow

SOFTWARE = "colloquy"  # the actor of automatic actions, such as retention
NOBODY = ""  # the actor of what somebody unknown tried
_UNTOLD = "untold audit events"  # of a transaction that has not been committed yet
log = logging.getLogger(AUDIT)


def record(
    session: Session,
    actor: str,
    action: str,
    subject: str,
    subject_id: UUID | str,
    details: Mapping[str, Any] | None = None,
) -> int:
    """Record an action in the transaction that performs it, so that neither exists alone.

    `actor` is a person's id, SOFTWARE or NOBODY; `action` is a past participle, such as `archived`;
    `subject` is the kind of object. `details` hold names and numbers, never what people wrote.
    The event is also logged once it is committed. Return its id.
    """
    values: dict[str, Any] = {
        "actor": actor,
        "action": action,
        "subject": subject,
        "subject_id": str(subject_id),
        "details": dict(details or {}),
    }
    adding = insert(AuditEventRow).values(**values)
    added = session.execute(adding.returning(AuditEventRow.id, AuditEventRow.at)).one()
    _tell_later(session, {"id": added.id, "at": added.at.isoformat(), **values})
    return int(added.id)


def _tell_later(session: Session, told: Mapping[str, Any]) -> None:
    if _UNTOLD not in session.info:
        session.info[_UNTOLD] = []
        event.listen(session, "after_commit", _tell)
    session.info[_UNTOLD].append(told)


def _tell(session: Session) -> None:
    if session.in_nested_transaction():
        return  # only a savepoint was released
    for told in session.info[_UNTOLD]:
        log.info("%s %s", told["action"], told["subject"], extra={"event": told})
    session.info[_UNTOLD].clear()
