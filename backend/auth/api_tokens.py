"""API tokens: made, listed, revoked; for oneself, and by administrators for service accounts."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.scope import Scope
from backend.auth.tokens import Kind, digest, new_token
from backend.errors.base import InvalidInput
from backend.errors.people import TokenNotFound
from backend.schemas.people.account import ApiToken, ApiTokens, MadeToken, NewToken
from backend.schemas.people.rights import Permission
from backend.text import is_visible, name_line
from db.models.people.sign_in import ApiTokenRow

MAX_TOKENS = 200  # of one holder, revoked ones included


def make(session: Session, scope: Scope, holder: str, wanted: NewToken) -> MadeToken:
    """Make a token for oneself, or for a service account. Raise InvalidInput, NotAllowed."""
    name = name_line(wanted.name)
    if not is_visible(name):
        raise InvalidInput("A token needs a name that says what it is for.")
    if wanted.expires_in_days is None:
        scope.require(Permission.MANAGE_PEOPLE)
    held = session.scalar(select(func.count()).where(ApiTokenRow.user_id == holder)) or 0
    if held >= MAX_TOKENS:
        raise InvalidInput(f"There are {MAX_TOKENS} tokens already. Use one of them.")
    token, lasts = new_token(Kind.API), wanted.expires_in_days
    row = session.scalars(
        insert(ApiTokenRow)
        .values(
            user_id=holder,
            name=name,
            token_hash=digest(token),
            allows=wanted.allows,
            expires_at=func.clock_timestamp() + timedelta(days=lasts) if lasts else None,
        )
        .returning(ApiTokenRow)
    ).one()
    details = {"name": name, "allows": wanted.allows, "holder": holder}
    audit.record(session, scope.user_id, "made", "token", row.id, details)
    return MadeToken(token=token, **_token(row).model_dump())


def list_tokens(session: Session, holder: str) -> ApiTokens:
    """Return the tokens of one holder, the latest first."""
    row = ApiTokenRow
    rows = session.scalars(
        select(row).where(row.user_id == holder).order_by(row.created_at.desc(), row.id)
    )
    return ApiTokens(items=[_token(one) for one in rows])


def revoke(session: Session, scope: Scope, holder: str, token_id: UUID) -> ApiToken:
    """Revoke a token for good; repeating it changes nothing. Raise TokenNotFound."""
    row = session.get(ApiTokenRow, token_id, with_for_update=True)
    if row is None or row.user_id != holder:
        raise TokenNotFound
    if row.revoked_at is None:
        row.revoked_at = session.scalar(select(func.clock_timestamp()))
        details = {"name": row.name, "holder": holder}
        audit.record(session, scope.user_id, "revoked", "token", row.id, details)
    return _token(row)


def revoke_all(session: Session, holder: str) -> None:
    """Revoke all tokens of a person who is switched off."""
    row = ApiTokenRow
    valid = row.revoked_at.is_(None)
    session.execute(
        update(row).where(row.user_id == holder, valid).values(revoked_at=func.clock_timestamp())
    )


def record_refused(session: Session, token: str) -> None:
    """Record that a token was used that has been revoked or has expired, if it was one of ours."""
    row = session.scalar(select(ApiTokenRow).where(ApiTokenRow.token_hash == digest(token)))
    if row is not None:
        details = {"name": row.name, "holder": row.user_id, "was_revoked": bool(row.revoked_at)}
        audit.record(session, audit.NOBODY, "use_refused", "token", row.id, details)


def _token(row: ApiTokenRow) -> ApiToken:
    return ApiToken(**{name: getattr(row, name) for name in ApiToken.model_fields})
