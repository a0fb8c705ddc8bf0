"""Who calls: the scope of a person, and that of a sign-in or an API token."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, func, or_, select, update
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from backend.auth.scope import Scope, ScopeType
from backend.auth.tokens import Kind, digest
from backend.errors.people import NotSignedIn, PersonDisabled
from backend.schemas.people.rights import Allows, Review, Role
from db.models.people.sign_in import ApiTokenRow, SignInRow
from db.models.people.user import TeamMemberRow, UserRow

IDLE = timedelta(hours=12)  # a sign-in that is not used for so long ends
NOTED = timedelta(minutes=1)  # the time of use is not written with each request


def scope_of(session: Session, user_id: str, review: Review = Review.OFF) -> Scope:
    """Return the scope of a person or service account as it is now. Raise PersonDisabled.

    An application that holds its people itself has members here whom we do not know.
    """
    row = session.execute(_PERSON.where(UserRow.id == user_id)).one_or_none()
    if row is None:
        return Scope(user_id, review=review)
    if row.disabled_at is not None:
        raise PersonDisabled
    return _scope(row, review)


def find_caller(session: Session, token: str, ways: Sequence[str], review: Review) -> Scope:
    """Return the scope of a token's holder, and note that the token was used. Raise NotSignedIn.

    `ways`: the ways of signing in that are on; sign-ins of others have ended.
    """
    if token.startswith(Kind.SIGN_IN):
        return _of_sign_in(session, token, ways, review)
    if token.startswith(Kind.API):
        return _of_api_token(session, token, review)
    raise NotSignedIn


def note_use(session: Session, user_id: str) -> None:
    """Note that a person has just been here, who uses neither a sign-in nor a token."""
    row, now = UserRow, func.clock_timestamp()
    is_stale = func.coalesce(row.seen_at < now - NOTED, True)
    session.execute(update(row).where(row.id == user_id, is_stale).values(seen_at=now))


def is_open() -> ColumnElement[bool]:
    """Match the sign-ins that have not ended."""
    now = func.clock_timestamp()
    return (
        SignInRow.ended_at.is_(None) & (SignInRow.ends_at > now) & (SignInRow.used_at > now - IDLE)
    )


def _of_sign_in(session: Session, token: str, ways: Sequence[str], review: Review) -> Scope:
    row, now = SignInRow, func.clock_timestamp()
    found = session.execute(
        _PERSON.add_columns(row.id.label("token"), (row.used_at < now - NOTED).label("is_stale"))
        .join(row, row.user_id == UserRow.id)
        .where(row.token_hash == digest(token), row.way.in_(ways), is_open(), _IS_ENABLED)
    ).one_or_none()
    if found is None:
        raise NotSignedIn
    if found.is_stale:
        session.execute(update(row).where(row.id == found.token).values(used_at=now))
        session.execute(update(UserRow).where(UserRow.id == found.id).values(seen_at=now))
    return replace(_scope(found, review), sign_in=found.token)


def _of_api_token(session: Session, token: str, review: Review) -> Scope:
    row, now = ApiTokenRow, func.clock_timestamp()
    is_valid = row.revoked_at.is_(None) & or_(row.expires_at.is_(None), row.expires_at > now)
    is_stale = func.coalesce(row.used_at < now - NOTED, True)
    found = session.execute(
        _PERSON.add_columns(row.id.label("token"), row.allows, is_stale.label("is_stale"))
        .join(row, row.user_id == UserRow.id)
        .where(row.token_hash == digest(token), is_valid, _IS_ENABLED)
    ).one_or_none()
    if found is None:
        raise NotSignedIn
    if found.is_stale:
        session.execute(update(row).where(row.id == found.token).values(used_at=now))
        session.execute(update(UserRow).where(UserRow.id == found.id).values(seen_at=now))
    return replace(_scope(found, review), allows=Allows(found.allows))


def _scope(row: Row[Any], review: Review) -> Scope:
    return Scope(
        row.id,
        Role(row.role),
        frozenset(row.teams or ()),
        ScopeType.ACCOUNT if row.is_service else ScopeType.USER,
        name=row.name,
        review=review,
    )


def _teams() -> Any:
    row = TeamMemberRow
    ids = func.array_agg(aggregate_order_by(row.team_id, row.team_id))
    return select(ids).where(row.user_id == UserRow.id).correlate(UserRow).scalar_subquery()


_IS_ENABLED = UserRow.disabled_at.is_(None)
# Built once: building it takes as long as running it.
_PERSON: Select[Any] = select(
    UserRow.id,
    UserRow.name,
    UserRow.role,
    UserRow.is_service,
    UserRow.disabled_at,
    _teams().label("teams"),
)
