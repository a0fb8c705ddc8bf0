"""API calls for sharing."""

from backend.schemas.people.account import Account, Team
from backend.schemas.people.grants import Principal
from backend.schemas.people.rights import PrincipalType
from ui.client import Client

EVERYONE = Principal(type=PrincipalType.EVERYONE, id="", name="Everyone here")


def teams(client: Client) -> list[Team]:
    """Return the caller's teams."""
    return client.get(Account, "account").teams
