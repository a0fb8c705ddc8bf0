"""API calls of the page Signing in."""

from urllib.parse import quote

from backend.schemas.people.account import Ways
from backend.schemas.people.providers import IdentityProvider, IdentityProviders, ProviderTest
from backend.types import JSON
from ui.client import Client

PATH = "identity-providers"
TEST_SECONDS = 60.0  # it calls the provider three times


def list_ways(client: Client) -> Ways:
    """Return how people sign in."""
    return client.get(Ways, "sign-in-ways")


def list_providers(client: Client) -> IdentityProviders:
    """Return all providers, without their secrets."""
    return client.get(IdentityProviders, PATH)


def add_provider(client: Client, new: JSON) -> IdentityProvider:
    """Add a provider: a `NewProvider` as it was typed."""
    return client.call(IdentityProvider, "POST", PATH, json=new)


def change_provider(client: Client, provider_id: str, change: JSON) -> IdentityProvider:
    """Change a provider: a `ProviderChange` as it was typed."""
    return client.call(IdentityProvider, "PATCH", _path(provider_id), json=change)


def remove_provider(client: Client, provider_id: str) -> None:
    """Remove a provider; sign-ins and memberships that came by it end."""
    client.send("DELETE", _path(provider_id))


def test_provider(client: Client, body: JSON) -> ProviderTest:
    """Have the API read what a provider publishes, and show it the client; nothing is saved."""
    return client.call(
        ProviderTest, "POST", "identity-provider-tests", json=body, timeout=TEST_SECONDS
    )


def _path(provider_id: str) -> str:
    return f"{PATH}/{quote(provider_id, safe='')}"
