"""When sessions were last used: read or written in; what retention goes by."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from backend.auth.reach import conversation_reached_by
from backend.auth.scope import Scope
from backend.schemas.people.rights import Right
from db.models.conversations.conversation import ConversationRow
from db.session import Database

EVERY = timedelta(minutes=1)
# Writing in a session changes `updated_at`, so that only reading needs a write of its own.
last_access = func.greatest(ConversationRow.last_accessed_at, ConversationRow.updated_at)


def is_due(session: Session, scope: Scope, conversation_id: UUID) -> bool:
    """Return whether the caller's reading is an access that is to be noted.

    It is not within a minute of the last one, nor by a reviewer: a review is no use of a session.
    """
    row = ConversationRow
    query = select(row.id).where(row.id == conversation_id, *_due(scope))
    return session.scalar(query) is not None


def note(database: Database, scope: Scope, conversation_id: UUID) -> None:
    """Note that the caller reads a session, if that is due and nobody is changing it just now."""
    row = ConversationRow
    free = select(row.id).where(row.id == conversation_id, *_due(scope))
    free = free.with_for_update(key_share=True, skip_locked=True)
    noted = update(row).where(row.id == free.scalar_subquery())
    with database.transaction() as session:
        session.execute(
            noted.values(last_accessed_at=func.clock_timestamp()),
            execution_options={"synchronize_session": False},
        )


def _due(scope: Scope) -> tuple[ColumnElement[bool], ...]:
    used = conversation_reached_by(scope.without_reviews(), Right.READ)
    return last_access < func.clock_timestamp() - EVERY, used
