"""A provider as it is used: its settings, with the client secret in the clear."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from backend.outgoing.policy import Outgoing
from backend.schemas.people.providers import GroupMeaning

REDIRECT_PATH = "/sign-in/oidc/{id}/answer"  # of the pages' server


@dataclass(frozen=True)
class Provider:
    """An OpenID Connect provider, and this installation as its client.

    `outgoing`: where calls to it may go.
    """

    id: str
    name: str
    issuer: str
    client_id: str
    client_secret: SecretStr
    scopes: str
    redirect_url: str
    groups_claim: str | None
    groups: Mapping[str, GroupMeaning]
    admits_new: bool
    outgoing: Outgoing


def redirect_url(pages_url: str, provider_id: str) -> str:
    """Return the address that a provider sends people back to: each has one of its own.

    So that the answer of one is never taken for another's (RFC 9700, 4.4.2).
    """
    return pages_url + REDIRECT_PATH.format(id=provider_id)
