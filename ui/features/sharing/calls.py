"""API calls for sharing: with whom a session is shared, and whose it is."""

from uuid import UUID

from backend.schemas.conversations.sessions import SessionChange
from backend.schemas.people.account import Account, Team
from backend.schemas.people.grants import Grant, Grants, NewSessionGrant, Principal, Principals
from backend.schemas.people.rights import PrincipalType
from ui.client import Client

EVERYONE = Principal(type=PrincipalType.EVERYONE, id="", name="Everyone here")


def teams(client: Client) -> list[Team]:
    """Return the caller's teams."""
    return client.get(Account, "account").teams


def principals(client: Client, q: str) -> list[Principal]:
    """Return everyone, and the teams and people whose names contain `q`."""
    return [EVERYONE, *client.get(Principals, "principals", q=q, limit=50).items]


def grants(client: Client, session_id: UUID) -> Grants:
    """Return with whom a session is shared."""
    return client.get(Grants, f"sessions/{session_id}/grants")


def share(client: Client, session_id: UUID, grant: NewSessionGrant) -> Grant:
    """Share a session with somebody."""
    body = grant.model_dump(mode="json")
    return client.call(Grant, "PUT", f"sessions/{session_id}/grants", json=body)


def unshare(client: Client, session_id: UUID, grant: Grant) -> None:
    """Share a session with somebody no longer."""
    who = {"principal_type": grant.principal_type, "principal_id": grant.principal_id}
    client.send("DELETE", f"sessions/{session_id}/grants", params=who)


def give(client: Client, session_id: UUID, team: str | None) -> None:
    """Give a session to a team, or back to its owner."""
    client.change_session(session_id, SessionChange(team=team))
