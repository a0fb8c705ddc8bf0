"""Identity providers, for administrators: list, add, change, remove and test them."""

from typing import Annotated

from fastapi import APIRouter, Path

from backend.api.dependencies import CallersDep, ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent, Text
from backend.api.http.threads import long_wait
from backend.people.providers import service
from backend.schemas.people.providers import (
    IdentityProvider,
    IdentityProviders,
    NewProvider,
    ProviderChange,
    ProviderTest,
    TestedProvider,
)

router = APIRouter(tags=["people"])
PROVIDERS = "/identity-providers"
Id = Annotated[Text, Path(min_length=1, max_length=200)]


@router.get(PROVIDERS)
def list_providers(services: ServicesDep, scope: ReadScope) -> IdentityProviders:
    """The providers that people sign in with, without their secrets; the environment's first."""
    with services.database.read() as session:
        return service.list_providers(session, services.settings, scope)


@router.post(PROVIDERS, status_code=201)
def add_provider(
    body: Sent[NewProvider], services: ServicesDep, scope: ManageScope
) -> IdentityProvider:
    """Add an OpenID Connect provider; its client secret is stored encrypted."""
    with services.database.transaction() as session:
        return service.add(session, services.settings, scope, body)


@router.post("/identity-provider-tests")
@long_wait
def test_provider(
    body: Sent[TestedProvider], services: ServicesDep, scope: ManageScope
) -> ProviderTest:
    """Read what a provider publishes, and show it the client id and secret; save nothing.

    The requests are sent from the API's machine.
    """
    return service.test(services.database, services.settings, scope, body)


@router.patch(f"{PROVIDERS}/{{provider_id}}")
def change_provider(
    provider_id: Id,
    body: Sent[ProviderChange],
    services: ServicesDep,
    scope: ManageScope,
    callers: CallersDep,
) -> IdentityProvider:
    """Change a provider. Another issuer or client needs its secret again."""
    with services.database.transaction() as session:
        changed = service.change(session, services.settings, scope, provider_id, body)
    callers.forget()
    return changed


@router.delete(f"{PROVIDERS}/{{provider_id}}", status_code=204)
def remove_provider(
    provider_id: Id, services: ServicesDep, scope: ManageScope, callers: CallersDep
) -> None:
    """Remove a provider; sign-ins, memberships and roles that came by it end.

    409 if no administrator could sign in any more.
    """
    with services.database.transaction() as session:
        service.remove(session, services.settings, scope, provider_id)
    callers.forget()
