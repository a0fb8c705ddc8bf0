"""Signing in with an identity provider, or as a trusted proxy says."""

import hmac
from typing import Annotated

from fastapi import APIRouter, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from backend.api.dependencies import CallersDep, DirectoryDep, ServicesDep
from backend.api.http.sanitize import Sent
from backend.api.http.threads import long_wait
from backend.api.visitors import visitor_of
from backend.auth.sign_ins import PROXY
from backend.errors.people import PagesUnknown
from backend.people.providers import signing_in
from backend.schemas.people.account import SignedIn
from backend.schemas.people.providers import (
    ProviderAnswer,
    ProviderSignIn,
    ProviderVisit,
    ProxiedPerson,
)
from backend.settings import Settings

router = APIRouter(prefix="/sign-ins", tags=["signing in"])
_pages_key = HTTPBearer(
    scheme_name="pages key", auto_error=False, description="PAGES_KEY, for the pages' server only."
)

PagesKey = Annotated[HTTPAuthorizationCredentials | None, Security(_pages_key)]


@router.post("/oidc")
@long_wait
def begin(
    body: Sent[ProviderSignIn], services: ServicesDep, directory: DirectoryDep
) -> ProviderVisit:
    """Begin to sign in with a provider: where to send the browser, and what it keeps until then.

    A one-time link's token makes the account at the provider that of the invited person.
    """
    return signing_in.begin(services.database, services.settings, directory, body)


@router.post("/oidc/answer")
@long_wait
def answer(
    body: Sent[ProviderAnswer],
    request: Request,
    services: ServicesDep,
    directory: DirectoryDep,
    callers: CallersDep,
) -> SignedIn:
    """Sign in whom the provider's answer names. It counts once, in the browser that began."""
    visitor = visitor_of(request, services.settings)
    signed_in = signing_in.answer(services.database, services.settings, directory, body, visitor)
    callers.forget()
    return signed_in


@router.get("/proxy", status_code=204)
def check_pages(services: ServicesDep, key: PagesKey) -> None:
    """Whether this is the key by which the API knows the pages' server; else 401."""
    _check_key(services.settings, key)


@router.post("/proxy", status_code=201)
def sign_in_by_proxy(
    body: Sent[ProxiedPerson],
    request: Request,
    services: ServicesDep,
    callers: CallersDep,
    key: PagesKey,
) -> SignedIn:
    """Sign in whom a trusted proxy has named to the pages' server. Only that may call this."""
    settings = services.settings
    _check_key(settings, key)
    visitor = visitor_of(request, settings)
    signed_in = signing_in.of_proxy(services.database, settings, body, visitor)
    callers.forget()
    return signed_in


def _check_key(settings: Settings, key: HTTPAuthorizationCredentials | None) -> None:
    known = settings.pages_key.get_secret_value() if PROXY in settings.ways else ""
    is_known = hmac.compare_digest((key.credentials if key else "").encode(), known.encode())
    if not (known and is_known):
        raise PagesUnknown
