"""Links that let others of the installation read a session: made, listed, revoked by its owner.

A link ends when it expires or is revoked, and when who made it is disabled or owns the session no
more.
A token is random and stored as its digest: reading the database does not reveal it.
"""

import hashlib
import secrets
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Select, case, func, insert, select, update
from sqlalchemy.orm import Session, aliased

from backend import audit
from backend.auth.acting import act_for_link, as_system
from backend.auth.reach import OWN
from backend.auth.scope import Scope
from backend.conversations.service import check_visible, exists_still, lock
from backend.errors.conversations import LinkExpired, LinkNotFound, LinkRevoked, TooManyLinks
from backend.schemas.conversations.links import (
    LINK_DAYS,
    LinkState,
    NewSessionLink,
    SessionLink,
    SessionLinks,
    SharedSession,
)
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.session_link import SessionLinkRow
from db.models.people.user import TeamMemberRow, UserRow

TOKEN_BYTES = 32
MAX_LINKS = 100  # per session, including revoked ones


def make_link(
    session: Session, scope: Scope, conversation_id: UUID, days: int = LINK_DAYS
) -> NewSessionLink:
    """Make a link to one of the caller's own sessions. Raise SessionNotFound, TooManyLinks."""
    _hold(session, scope, conversation_id)
    of_session = SessionLinkRow.conversation_id == conversation_id
    if (session.scalar(select(func.count()).where(of_session)) or 0) >= MAX_LINKS:
        raise TooManyLinks
    token = secrets.token_urlsafe(TOKEN_BYTES)
    link_id = session.execute(
        insert(SessionLinkRow)
        .values(
            conversation_id=conversation_id,
            token_hash=_digest(token),
            made_by=scope.user_id,
            expires_at=func.clock_timestamp() + timedelta(days=days),
        )
        .returning(SessionLinkRow.id)
    ).scalar_one()
    details = {"link": str(link_id), "days": days}
    audit.record(session, scope.user_id, "link_made", "session", conversation_id, details)
    return NewSessionLink(**_find(session, conversation_id, link_id).model_dump(), token=token)


def list_links(session: Session, scope: Scope, conversation_id: UUID) -> SessionLinks:
    """Return the links to one of the caller's own sessions. Raise SessionNotFound."""
    check_visible(session, scope, conversation_id, OWN)
    newest = (SessionLinkRow.created_at.desc(), SessionLinkRow.id)
    rows = session.execute(_links(conversation_id).order_by(*newest))
    return SessionLinks(items=[_wire(row) for row in rows])


def revoke_link(
    session: Session, scope: Scope, conversation_id: UUID, link_id: UUID
) -> SessionLink:
    """Revoke a link for good; repeating it changes nothing. Raise SessionNotFound, LinkNotFound."""
    _hold(session, scope, conversation_id)
    found = _find(session, conversation_id, link_id)
    if found.revoked_at is not None:
        return found
    session.execute(
        update(SessionLinkRow)
        .where(SessionLinkRow.id == link_id)
        .values(revoked_at=func.clock_timestamp())
    )
    details = {"link": str(link_id)}
    audit.record(session, scope.user_id, "link_revoked", "session", conversation_id, details)
    return _find(session, conversation_id, link_id)


def open_link(session: Session, token: str) -> tuple[Scope, SharedSession]:
    """Return the session that a link opens, and the scope to read it with.

    Raise LinkNotFound, LinkExpired, or LinkRevoked with the time of revocation.
    """
    row, link = ConversationRow, SessionLinkRow
    with as_system(session):
        found = session.execute(
            select(
                row.id, row.title, row.domain_name, row.owner_id, row.team, row.message_count,
                row.updated_at, link.revoked_at, _state().label("state"),
            )
            .join(link, link.conversation_id == row.id)
            .where(link.token_hash == _digest(token), exists_still())
        ).one_or_none()  # fmt: skip
    if found is None:
        raise LinkNotFound
    act_for_link(session, found.id)
    if found.revoked_at is not None:
        raise LinkRevoked.at(found.revoked_at)
    if found.state != LinkState.VALID:
        raise LinkExpired
    shared = SharedSession(
        id=found.id,
        title=found.title,
        domain=found.domain_name,
        owner=found.owner_id,
        message_count=found.message_count,
        updated_at=found.updated_at,
    )
    return Scope(found.owner_id, teams=frozenset(filter(None, [found.team]))), shared


def _hold(session: Session, scope: Scope, conversation_id: UUID) -> None:
    """Lock one of the caller's own sessions, or their team's. Raise SessionNotFound."""
    lock(session, scope, conversation_id, OWN)


def _find(session: Session, conversation_id: UUID, link_id: UUID) -> SessionLink:
    query = _links(conversation_id).where(SessionLinkRow.id == link_id)
    row = session.execute(query).one_or_none()
    if row is None:
        raise LinkNotFound
    return _wire(row)


def _links(conversation_id: UUID) -> Select[Any]:
    row = SessionLinkRow
    columns = (row.id, row.made_by, row.created_at, row.expires_at, row.revoked_at)
    of_session = row.conversation_id == conversation_id
    return select(*columns, _state().label("state")).where(of_session)


def _state() -> Any:
    row, now = SessionLinkRow, func.clock_timestamp()
    is_off = select(UserRow.id).where(UserRow.id == row.made_by, UserRow.disabled_at.is_not(None))
    talk = aliased(ConversationRow)
    members = select(TeamMemberRow.user_id).where(TeamMemberRow.team_id == talk.team)
    is_makers = case((talk.team.is_(None), talk.owner_id == row.made_by),
                     else_=row.made_by.in_(members))  # fmt: skip
    is_owned = select(talk.id).where(talk.id == row.conversation_id, is_makers)
    return case(
        (row.revoked_at.is_not(None), LinkState.REVOKED),
        (row.expires_at <= now, LinkState.EXPIRED),
        (is_off.exists() | ~is_owned.exists(), LinkState.DISABLED),
        else_=LinkState.VALID,
    )


def _wire(row: Any) -> SessionLink:
    return SessionLink(**row._mapping)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
