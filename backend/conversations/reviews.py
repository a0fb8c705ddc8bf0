"""Reviews: reading somebody else's session for a while, which its owner sees."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, insert, select, text
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.reach import OWN
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.errors.base import InvalidInput
from backend.errors.conversations import SessionNotFound
from backend.errors.people import ReasonNeeded
from backend.schemas.conversations import sessions as schemas
from backend.schemas.conversations.reviews import Review, Reviews
from backend.schemas.people.rights import Permission
from backend.schemas.people.rights import Review as Reviewing
from backend.text import is_visible
from backend.types import JSON
from colloquy_kit.messages.clean import clean_text
from db.models.conversations.conversation import ConversationRow
from db.models.people.review import ReviewRow
from db.models.people.user import UserRow
from db.session import Database

LASTS = timedelta(hours=1)
MAX_LISTED = 200
SUBJECT = "session"
_ALONE = text("SELECT pg_advisory_xact_lock(hashtextextended(:about, 0))")


def read_session(database: Database, scope: Scope, session_id: UUID) -> schemas.Session:
    """Return one session, also as its reviewer; where they need no reason, this begins a review.

    Raise SessionNotFound, ReasonNeeded.
    """
    begin_unasked(database, scope, session_id)
    with database.read() as session:
        try:
            found = conversations.get(session, scope, session_id)
        except SessionNotFound:
            if scope.has(Permission.REVIEW_SESSIONS) and _exists(session, session_id):
                raise ReasonNeeded from None
            raise
    if found.owner != scope.user_id:
        found.review_ends_at = note_reading(database, scope, session_id)
    return found


def begin(session: Session, scope: Scope, session_id: UUID, reason: str) -> Review:
    """Begin a review; with the same reason again, the one that is open is returned.

    Raise NotAllowed, SessionNotFound, InvalidInput without a reason, or if none is needed.
    """
    scope.require(Permission.REVIEW_SESSIONS)
    if not _exists(session, session_id):
        raise SessionNotFound
    if _is_reached(session, scope, session_id):
        raise InvalidInput("You can read this session without a review. Just open it.")
    line = " ".join(clean_text(reason).split())
    if scope.review is not Reviewing.ON and not is_visible(line):
        raise InvalidInput("Say in a few words why you read this session.")
    return _begin(session, scope, session_id, line)


def begin_unasked(database: Database, scope: Scope, session_id: UUID) -> None:
    """Begin a review if the caller needs one to read the session, and no reason for it."""
    if scope.review is Reviewing.ON and not scope.reads_all:
        note_reading(database, scope, session_id)


def note_reading(database: Database, scope: Scope, session_id: UUID) -> datetime | None:
    """Return when the caller's review of a session ends; None: it is no review that lets them read.

    Where no reason is needed, reading begins one, so that the owner sees it.
    """
    if not scope.has(Permission.REVIEW_SESSIONS):
        return None
    with database.read() as session:
        if _is_reached(session, scope, session_id) or not _exists(session, session_id):
            return None
        ends_at = session.scalar(
            select(func.max(ReviewRow.ends_at)).where(*_open(scope, session_id))
        )
    if ends_at is not None or scope.review is not Reviewing.ON:
        return ends_at
    with database.transaction() as session:
        return _begin(session, scope, session_id, "").ends_at


def list_reviews(session: Session, scope: Scope, session_id: UUID) -> Reviews:
    """Return who reviewed a session of the caller's, the latest first. Raise SessionNotFound."""
    conversations.check_visible(session, scope, session_id, OWN)
    of_session = _REVIEWS.where(ReviewRow.conversation_id == session_id)
    latest = of_session.order_by(ReviewRow.begun_at.desc(), ReviewRow.id).limit(MAX_LISTED)
    return Reviews(items=[Review(**row._mapping) for row in session.execute(latest)])


def record_act(
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


def _begin(session: Session, scope: Scope, session_id: UUID, reason: str) -> Review:
    session.execute(_ALONE, {"about": f"review {scope.user_id} {session_id}"})
    again = _REVIEWS.where(*_open(scope, session_id), ReviewRow.reason == reason)
    found = session.execute(again.order_by(ReviewRow.ends_at.desc()).limit(1)).one_or_none()
    if found is None:
        row, now = ReviewRow, func.clock_timestamp()
        values = {"conversation_id": session_id, "reviewer": scope.user_id, "reason": reason}
        adding = insert(row).values(**values, begun_at=now, ends_at=now + LASTS).returning(row.id)
        review_id = session.scalar(adding)
        owner = session.scalar(_owner_of(session_id))
        about = {"owner": owner, "reason": reason, "review": str(review_id)}
        audit.record(session, scope.user_id, "reviewed", SUBJECT, session_id, about)
        found = session.execute(_REVIEWS.where(row.id == review_id)).one()
    return Review(**found._mapping)


def _open(scope: Scope, session_id: UUID) -> tuple[ColumnElement[bool], ...]:
    row = ReviewRow
    of_caller = (row.conversation_id == session_id) & (row.reviewer == scope.user_id)
    return (of_caller, row.ends_at > func.clock_timestamp())


def _is_reached(session: Session, scope: Scope, session_id: UUID) -> bool:
    reached = conversations.visible_to(scope.without_reviews())
    return session.scalar(_owner_of(session_id).where(reached)) is not None


def _exists(session: Session, session_id: UUID) -> bool:
    return session.scalar(_owner_of(session_id).where(conversations.exists_still())) is not None


def _owner_of(session_id: UUID) -> Select[str]:
    return select(ConversationRow.owner_id).where(ConversationRow.id == session_id)


_REVIEWS = select(
    ReviewRow.id,
    ReviewRow.reviewer,
    func.coalesce(UserRow.name, ReviewRow.reviewer).label("reviewer_name"),
    ReviewRow.reason,
    ReviewRow.begun_at,
    ReviewRow.ends_at,
).outerjoin(UserRow, UserRow.id == ReviewRow.reviewer)
