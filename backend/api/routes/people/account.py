"""The caller's own account: who they are, their password and their API tokens."""

from uuid import UUID

from fastapi import APIRouter, Request

from backend.api.dependencies import CallersDep, ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent
from backend.api.visitors import visitor_of
from backend.auth import api_tokens, local
from backend.people import service
from backend.schemas.people.account import (
    Account,
    ApiToken,
    ApiTokens,
    MadeToken,
    NewToken,
    PasswordChange,
    SignedIn,
)

router = APIRouter(tags=["account"])


@router.get("/account")
def get_account(services: ServicesDep, scope: ReadScope) -> Account:
    """Who the caller is, and what they may do."""
    with services.database.read() as session:
        return service.get_account(session, scope)


@router.post("/account/password", status_code=201)
def change_password(
    body: Sent[PasswordChange],
    request: Request,
    services: ServicesDep,
    scope: ManageScope,
    callers: CallersDep,
) -> SignedIn:
    """Change one's own password. All sign-ins end; the answer holds a new one."""
    visitor = visitor_of(request, services.settings)
    signed_in = local.change_password(services.database, scope, body, visitor)
    callers.forget()
    return signed_in


@router.get("/account/tokens")
def list_tokens(services: ServicesDep, scope: ReadScope) -> ApiTokens:
    """The caller's API tokens, the latest first, without their texts."""
    with services.database.read() as session:
        return api_tokens.list_tokens(session, scope.user_id)


@router.post("/account/tokens", status_code=201)
def make_token(body: Sent[NewToken], services: ServicesDep, scope: ManageScope) -> MadeToken:
    """Make an API token. Its text is in this answer only."""
    with services.database.transaction() as session:
        return api_tokens.make(session, scope, scope.user_id, body)


@router.delete("/account/tokens/{token_id}")
def revoke_token(
    token_id: UUID, services: ServicesDep, scope: ManageScope, callers: CallersDep
) -> ApiToken:
    """Revoke one of the caller's API tokens for good."""
    with services.database.transaction() as session:
        revoked = api_tokens.revoke(session, scope, scope.user_id, token_id)
    callers.forget()
    return revoked
