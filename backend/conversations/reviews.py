"""What administrators do in the sessions of others, recorded in the audit trail."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.scope import Scope
from backend.types import JSON
from db.models.audit_event import AuditEventRow
from db.models.conversations.conversation import ConversationRow
from db.session import Database

OPENED, SUBJECT = "opened", "session"
AGAIN = timedelta(hours=1)  # an open page reads every few moments


def record_review(
    session: Session,
    actor: str,
    owner: str,
    conversation_id: UUID,
    action: str,
    details: JSON | None = None,
) -> None:
    """Record an action in a session of somebody else; nothing in one's own."""
    if actor != owner:
        about = {"owner": owner, **(details or {})}
        audit.record(session, actor, action, SUBJECT, conversation_id, about)


def record_opening(database: Database, scope: Scope, conversation_id: UUID) -> None:
    """Record that somebody else's session was read, once per person and hour."""
    with database.read() as session:
        owner = session.scalar(
            select(ConversationRow.owner_id).where(ConversationRow.id == conversation_id)
        )
        if owner in (None, scope.user_id) or _is_recorded(session, scope, conversation_id):
            return
    with database.transaction() as session:
        record_review(session, scope.user_id, owner, conversation_id, OPENED)


def _is_recorded(session: Session, scope: Scope, conversation_id: UUID) -> bool:
    row = AuditEventRow
    recorded = select(row.id).where(
        row.subject == SUBJECT,
        row.subject_id == str(conversation_id),
        row.actor == scope.user_id,
        row.action == OPENED,
        row.at > func.clock_timestamp() - AGAIN,
    )
    return session.scalar(recorded.limit(1)) is not None
