"""Whether somebody can still sign in and administer, before a way in is taken away."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, exists, false, or_, select
from sqlalchemy.orm import Session

from backend.schemas.people.rights import Role
from db.models.people.user import IdentityRow, UserRow


@dataclass(frozen=True)
class WaysIn:
    """The ways of signing in that are on: with passwords, and by which issuers' identities."""

    has_passwords: bool
    issuers: Collection[str]


def can_administer(session: Session, ways: WaysIn, but: str | None = None) -> bool:
    """Return whether an administrator other than `but` has one of these ways in."""
    is_one = [UserRow.role == Role.ADMIN, UserRow.disabled_at.is_(None), ~UserRow.is_service]
    if but is not None:
        is_one.append(UserRow.id != but)
    return bool(session.scalar(select(exists().where(*is_one, _can_sign_in(ways)))))


def _can_sign_in(ways: WaysIn) -> ColumnElement[bool]:
    has_password = UserRow.login.is_not(None) & UserRow.password_hash.is_not(None)
    of_theirs = and_(
        IdentityRow.user_id == UserRow.id, IdentityRow.issuer.in_(sorted(ways.issuers))
    )
    return or_(
        has_password if ways.has_passwords else false(),
        exists().where(of_theirs).correlate(UserRow),
    )
