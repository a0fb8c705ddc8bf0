"""Links that let others of the installation read a session: made, listed, revoked by its owner.

A token is random and stored as its digest: reading the database does not reveal it.
"""

import hashlib
import secrets
from uuid import UUID

from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.reach import OWN
from backend.auth.scope import Scope
from backend.conversations.service import check_visible, exists_still, lock
from backend.errors.conversations import LinkNotFound, LinkRevoked, TooManyLinks
from backend.schemas.conversations.links import (
    NewSessionLink,
    SessionLink,
    SessionLinks,
    SharedSession,
)
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.session_link import SessionLinkRow

TOKEN_BYTES = 32
MAX_LINKS = 100  # per session, including revoked ones


def make_link(session: Session, scope: Scope, conversation_id: UUID) -> NewSessionLink:
    """Make a link to one of the caller's own sessions. Raise SessionNotFound, TooManyLinks."""
    _hold(session, scope, conversation_id)
    of_session = SessionLinkRow.conversation_id == conversation_id
    if (session.scalar(select(func.count()).where(of_session)) or 0) >= MAX_LINKS:
        raise TooManyLinks
    token = secrets.token_urlsafe(TOKEN_BYTES)
    row = session.execute(
        insert(SessionLinkRow)
        .values(conversation_id=conversation_id, token_hash=_digest(token))
        .returning(SessionLinkRow.id, SessionLinkRow.created_at)
    ).one()
    details = {"link": str(row.id)}
    audit.record(session, scope.user_id, "link_made", "session", conversation_id, details)
    return NewSessionLink(id=row.id, created_at=row.created_at, revoked_at=None, token=token)


def list_links(session: Session, scope: Scope, conversation_id: UUID) -> SessionLinks:
    """Return the links to one of the caller's own sessions. Raise SessionNotFound."""
    check_visible(session, scope, conversation_id, OWN)
    rows = session.scalars(
        select(SessionLinkRow)
        .where(SessionLinkRow.conversation_id == conversation_id)
        .order_by(SessionLinkRow.created_at.desc(), SessionLinkRow.id)
    )
    return SessionLinks(items=[_link(row) for row in rows])


def revoke_link(
    session: Session, scope: Scope, conversation_id: UUID, link_id: UUID
) -> SessionLink:
    """Revoke a link for good; repeating it changes nothing. Raise SessionNotFound, LinkNotFound."""
    _hold(session, scope, conversation_id)
    of_session = SessionLinkRow.conversation_id == conversation_id
    row = session.scalar(select(SessionLinkRow).where(SessionLinkRow.id == link_id, of_session))
    if row is None:
        raise LinkNotFound
    if row.revoked_at is not None:
        return _link(row)
    revoked_at = session.scalar(
        update(SessionLinkRow)
        .where(SessionLinkRow.id == link_id)
        .values(revoked_at=func.clock_timestamp())
        .returning(SessionLinkRow.revoked_at)
    )
    details = {"link": str(link_id)}
    audit.record(session, scope.user_id, "link_revoked", "session", conversation_id, details)
    return SessionLink(id=row.id, created_at=row.created_at, revoked_at=revoked_at)


def open_link(session: Session, token: str) -> tuple[Scope, SharedSession]:
    """Return the session that a link opens, and the scope to read it with.

    Raise LinkNotFound, or LinkRevoked with the time of revocation.
    """
    row, link = ConversationRow, SessionLinkRow
    found = session.execute(
        select(
            row.id, row.title, row.domain_name, row.owner_id, row.message_count, row.updated_at,
            link.revoked_at,
        )
        .join(link, link.conversation_id == row.id)
        .where(link.token_hash == _digest(token), exists_still())
    ).one_or_none()  # fmt: skip
    if found is None:
        raise LinkNotFound
    if found.revoked_at is not None:
        raise LinkRevoked.at(found.revoked_at)
    shared = SharedSession(
        id=found.id,
        title=found.title,
        domain=found.domain_name,
        owner=found.owner_id,
        message_count=found.message_count,
        updated_at=found.updated_at,
    )
    return Scope(found.owner_id), shared


def _hold(session: Session, scope: Scope, conversation_id: UUID) -> None:
    """Lock one of the caller's own sessions, or their team's. Raise SessionNotFound."""
    lock(session, scope, conversation_id, OWN)


def _link(row: SessionLinkRow) -> SessionLink:
    return SessionLink(id=row.id, created_at=row.created_at, revoked_at=row.revoked_at)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
