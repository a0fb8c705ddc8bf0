"""People and service accounts, for administrators."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from backend.api.dependencies import CallersDep, ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent, Text, Whole
from backend.auth import api_tokens
from backend.people import disabling, mail, service
from backend.schemas.people.account import ApiToken, ApiTokens, LinkPurpose, MadeToken, NewToken
from backend.schemas.people.people import (
    Invited,
    NewPerson,
    People,
    Person,
    PersonChange,
    ResetLink,
)

router = APIRouter(tags=["people"])
UserId = Annotated[Text, Path(min_length=1, max_length=200)]


@router.get("/people")
def list_people(
    services: ServicesDep,
    scope: ReadScope,
    q: Annotated[Text | None, Query(max_length=200)] = None,
    team: Annotated[Text | None, Query(description="A team's id.", max_length=200)] = None,
    cursor: Annotated[Text | None, Query(max_length=1_000)] = None,
    limit: Annotated[Whole, Query(ge=1, le=service.MAX_PAGE)] = 50,
) -> People:
    """People and service accounts by name; `q` is a part of a name, login, address or id."""
    with services.database.read() as session:
        return service.list_people(session, scope, q=q, team=team, cursor=cursor, limit=limit)


@router.post("/people", status_code=201)
def add_person(body: Sent[NewPerson], services: ServicesDep, scope: ManageScope) -> Invited:
    """Invite a person by a one-time link, mailed where SMTP_URL is set; or make a service account.

    A mail that fails changes nothing: the link is in this answer.
    """
    with services.database.transaction() as session:
        invited = service.add_person(session, scope, body)
    if invited.link_token is not None:
        invited.mailed = mail.send_link(
            services.settings, LinkPurpose.INVITATION, invited.person, invited.link_token
        )
    return invited


@router.get("/people/{user_id}")
def get_person(user_id: UserId, services: ServicesDep, scope: ReadScope) -> Person:
    """One person or service account."""
    with services.database.read() as session:
        return service.get_person(session, scope, user_id)


@router.patch("/people/{user_id}")
def change_person(
    user_id: UserId,
    body: Sent[PersonChange],
    services: ServicesDep,
    scope: ManageScope,
    callers: CallersDep,
) -> Person:
    """Change, disable or enable a person. Disabling ends pages, turns, tokens and links."""
    with services.database.transaction() as session:
        changed = service.change_person(session, scope, user_id, body)
    callers.forget()
    if changed.disabled_at is not None:
        disabling.stop_turns(services, scope, user_id)
    return changed


@router.post("/people/{user_id}/reset-link", status_code=201)
def make_reset_link(user_id: UserId, services: ServicesDep, scope: ManageScope) -> ResetLink:
    """Make a one-time link by which the person sets a password; earlier ones end.

    It is mailed to them where SMTP_URL is set; if that fails, it is still in this answer.
    """
    with services.database.transaction() as session:
        purpose, token = service.make_reset_link(session, scope, user_id)
        person = service.get_person(session, scope, user_id)
    mailed = mail.send_link(services.settings, purpose, person, token)
    return ResetLink(link_token=token, mailed=mailed)


@router.get("/people/{user_id}/tokens")
def list_tokens(user_id: UserId, services: ServicesDep, scope: ReadScope) -> ApiTokens:
    """The API tokens of a person or service account, without their texts."""
    with services.database.read() as session:
        service.get_person(session, scope, user_id)
        return api_tokens.list_tokens(session, user_id)


@router.post("/people/{user_id}/tokens", status_code=201)
def make_token(
    user_id: UserId, body: Sent[NewToken], services: ServicesDep, scope: ManageScope
) -> MadeToken:
    """Make an API token of a service account. Its text is in this answer only."""
    with services.database.transaction() as session:
        service.check_service_account(session, scope, user_id)
        return api_tokens.make(session, scope, user_id, body)


@router.delete("/people/{user_id}/tokens/{token_id}")
def revoke_token(
    user_id: UserId,
    token_id: UUID,
    services: ServicesDep,
    scope: ManageScope,
    callers: CallersDep,
) -> ApiToken:
    """Revoke an API token of a person or service account for good."""
    with services.database.transaction() as session:
        service.get_person(session, scope, user_id)
        revoked = api_tokens.revoke(session, scope, user_id, token_id)
    callers.forget()
    return revoked
