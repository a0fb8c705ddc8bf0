"""Sign-ins: begun, listed, ended. What a browser holds is an opaque token, in a cookie."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import and_, exists, func, insert, or_, select, update
from sqlalchemy.orm import Session, aliased

from backend import audit
from backend.auth.callers import is_open
from backend.auth.scope import Scope
from backend.auth.tokens import Kind, digest, new_token
from backend.errors.people import TokenNotFound
from backend.schemas.people.account import SignedIn, SignIn, SignIns
from db.models.people.sign_in import SignInRow
from db.models.people.user import UserRow

PROXY = "proxy"  # the issuer, provider and way of those whom a trusted proxy has let in
LASTS = timedelta(days=7)  # however busy
MAX_LISTED = 100


@dataclass(frozen=True)
class Visitor:
    """Where a sign-in comes from: a network address, and what the browser says that it is."""

    address: str = ""
    browser: str = ""


def begin(session: Session, user_id: str, way: str, visitor: Visitor) -> SignedIn:
    """Begin a sign-in of a person, and return its token."""
    token = new_token(Kind.SIGN_IN)
    session.execute(
        insert(SignInRow).values(
            token_hash=digest(token),
            user_id=user_id,
            way=way,
            address=visitor.address,
            browser=visitor.browser[:300],
            ends_at=func.clock_timestamp() + LASTS,
        )
    )
    session.execute(
        update(UserRow).where(UserRow.id == user_id).values(seen_at=func.clock_timestamp())
    )
    details = {"way": way, "address": visitor.address}
    audit.record(session, user_id, "signed_in", "user", user_id, details)
    return SignedIn(token=token, user_id=user_id)


def end_own(session: Session, scope: Scope, sign_in_id: UUID | None = None) -> None:
    """End the caller's sign-in of this id, None: all of theirs. Raise TokenNotFound."""
    ended = end_all(session, scope.user_id, sign_in_id)
    if not ended and sign_in_id is not None:
        raise TokenNotFound
    if ended:
        audit.record(session, scope.user_id, "signed_out", "user", scope.user_id, {"count": ended})


def end_all(session: Session, user_id: str, sign_in_id: UUID | None = None) -> int:
    """End a person's sign-ins, or the one of this id; return how many were open.

    Whom a proxy names has one at each server of the pages, for all of their browsers: these end
    together.
    """
    ending = update(SignInRow).where(SignInRow.user_id == user_id, is_open())
    if sign_in_id is not None:
        meant = aliased(SignInRow)
        by_proxy = exists().where(meant.id == sign_in_id, meant.way == PROXY)
        ending = ending.where(
            or_(SignInRow.id == sign_in_id, and_(SignInRow.way == PROXY, by_proxy))
        )
    ended = session.execute(ending.values(ended_at=func.clock_timestamp()).returning(SignInRow.id))
    return len(ended.all())


def list_own(session: Session, scope: Scope) -> SignIns:
    """Return the caller's open sign-ins, the latest first."""
    row = SignInRow
    rows = session.scalars(
        select(row)
        .where(row.user_id == scope.user_id, is_open())
        .order_by(row.created_at.desc())
        .limit(MAX_LISTED)
    )
    return SignIns(
        items=[
            SignIn(
                id=one.id,
                way=one.way,
                address=one.address,
                browser=one.browser,
                created_at=one.created_at,
                used_at=one.used_at,
                ends_at=one.ends_at,
                is_this=one.id == scope.sign_in,
            )
            for one in rows
        ]
    )
