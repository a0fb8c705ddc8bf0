"""Signing in with a password, one-time links, and the sign-ins that are open."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request

from backend.api.dependencies import CallersDep, ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent, Text
from backend.api.visitors import visitor_of
from backend.auth import local, sign_ins
from backend.errors.people import SignInRefused
from backend.people.providers import store
from backend.schemas.people.account import (
    NewPassword,
    OneTimeLink,
    Password,
    SignedIn,
    SignIns,
    Ways,
)
from backend.turns.process.services import Services

router = APIRouter(tags=["signing in"])
LinkToken = Annotated[Text, Path(min_length=1, max_length=200)]


@router.get("/sign-in-ways")
def list_ways(services: ServicesDep) -> Ways:
    """How people sign in here; none where one local person works without."""
    with services.database.read() as session:
        return Ways(items=store.list_ways(session, services.settings))


@router.post("/sign-ins", status_code=201)
def sign_in(body: Sent[Password], request: Request, services: ServicesDep) -> SignedIn:
    """Sign in with a password. The token counts for twelve idle hours, and at most seven days."""
    _require_passwords(services)
    visitor = visitor_of(request, services.settings)
    return local.sign_in(services.database, body, visitor)


@router.get("/sign-ins")
def list_sign_ins(services: ServicesDep, scope: ReadScope) -> SignIns:
    """The caller's open sign-ins, the latest first."""
    with services.database.read() as session:
        return sign_ins.list_own(session, scope)


# A sign-in allows everything; an API token that only reads or asks ends nobody's.
@router.delete("/sign-ins/{sign_in_id}", status_code=204)
def sign_out(
    sign_in_id: UUID, services: ServicesDep, scope: ManageScope, callers: CallersDep
) -> None:
    """End one of the caller's sign-ins; its open pages end within seconds."""
    with services.database.transaction() as session:
        sign_ins.end_own(session, scope, sign_in_id)
    callers.forget()


@router.delete("/sign-ins", status_code=204)
def sign_out_everywhere(services: ServicesDep, scope: ManageScope, callers: CallersDep) -> None:
    """End all of the caller's sign-ins, also this one."""
    with services.database.transaction() as session:
        sign_ins.end_own(session, scope)
    callers.forget()


@router.get("/one-time-links/{token}")
def get_link(token: LinkToken, services: ServicesDep) -> OneTimeLink:
    """What a one-time link is for; reading does not use it. 410 once it was used, or expired."""
    with services.database.read() as session:
        return local.read_link(session, token)


@router.post("/one-time-links/{token}", status_code=201)
def use_link(
    token: LinkToken,
    body: Sent[NewPassword],
    request: Request,
    services: ServicesDep,
    callers: CallersDep,
) -> SignedIn:
    """Set the password that the link permits to set, and sign in. The link ends."""
    _require_passwords(services)
    visitor = visitor_of(request, services.settings)
    signed_in = local.use_link(services.database, token, body, visitor)
    callers.forget()
    return signed_in


def _require_passwords(services: Services) -> None:
    if local.WAY not in services.settings.ways:
        raise SignInRefused("Nobody signs in with a password here.")
