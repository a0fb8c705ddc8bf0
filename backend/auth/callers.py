"""Who calls: the scope of a person, and that of a sign-in or an API token."""

from collections.abc import Collection, Sequence
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


def find_caller(
    session: Session, token: str, ways: Sequence[str], review: Review, *, is_use: bool
) -> Scope:
    """Return the scope of a token's holder, and note its use if it is one. Raise NotSignedIn.

    `ways`: the ways of signing in that are on; sign-ins of others have ended.
    """
    if token.startswith(Kind.SIGN_IN):
        signed_in = _signed_in(ways).where(SignInRow.token_hash == digest(token))
        return _of_sign_in(_find(session, signed_in, SignInRow, is_use=is_use), review)
    if token.startswith(Kind.API):
        valid = _VALID_TOKENS.where(ApiTokenRow.token_hash == digest(token))
        return _of_api_token(_find(session, valid, ApiTokenRow, is_use=is_use), review)
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


def find_again(
    session: Session, digests: Collection[str], ways: Sequence[str], review: Review
) -> dict[str, Scope]:
    """Return the scopes of the tokens with these digests that are valid, without noting a use."""
    found: dict[str, Scope] = {}
    for row in session.execute(_signed_in(ways).where(SignInRow.token_hash.in_(digests))):
        found[row.token_hash] = _of_sign_in(row, review)
    for row in session.execute(_VALID_TOKENS.where(ApiTokenRow.token_hash.in_(digests))):
        found[row.token_hash] = _of_api_token(row, review)
    return found


def find_people(session: Session, user_ids: Collection[str], review: Review) -> dict[str, Scope]:
    """Return the scopes of those of these people who are not disabled."""
    rows = session.execute(_PERSON.where(UserRow.id.in_(user_ids), _IS_ENABLED))
    return {row.id: _scope(row, review) for row in rows}


def _signed_in(ways: Sequence[str]) -> Select[Any]:
    return _SIGN_INS.where(SignInRow.way.in_(ways))


def _of_sign_in(row: Row[Any], review: Review) -> Scope:
    return replace(_scope(row, review), sign_in=row.token)


def _of_api_token(row: Row[Any], review: Review) -> Scope:
    return replace(_scope(row, review), allows=Allows(row.allows))


def _find(
    session: Session,
    query: Select[Any],
    of: type[SignInRow] | type[ApiTokenRow],
    *,
    is_use: bool,
) -> Row[Any]:
    """Return a token's holder, and note its use if it is one. Raise NotSignedIn."""
    found = session.execute(query).one_or_none()
    if found is None:
        raise NotSignedIn
    if is_use and found.is_stale:
        now = func.clock_timestamp()
        session.execute(update(of).where(of.id == found.token).values(used_at=now))
        session.execute(update(UserRow).where(UserRow.id == found.id).values(seen_at=now))
    return found


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
_NOW = func.clock_timestamp()
_SIGN_INS: Select[Any] = (
    _PERSON.add_columns(
        SignInRow.id.label("token"),
        SignInRow.token_hash,
        (SignInRow.used_at < _NOW - NOTED).label("is_stale"),
    )
    .join(SignInRow, SignInRow.user_id == UserRow.id)
    .where(is_open(), _IS_ENABLED)
)
_VALID_TOKENS: Select[Any] = (
    _PERSON.add_columns(
        ApiTokenRow.id.label("token"),
        ApiTokenRow.token_hash,
        ApiTokenRow.allows,
        func.coalesce(ApiTokenRow.used_at < _NOW - NOTED, True).label("is_stale"),
    )
    .join(ApiTokenRow, ApiTokenRow.user_id == UserRow.id)
    .where(
        ApiTokenRow.revoked_at.is_(None),
        or_(ApiTokenRow.expires_at.is_(None), ApiTokenRow.expires_at > _NOW),
        _IS_ENABLED,
    )
)
