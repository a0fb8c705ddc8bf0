"""API calls of the pages People and Teams."""

from urllib.parse import quote

from backend.schemas.people.people import (
    Invited,
    People,
    Person,
    ResetLink,
    TeamDetails,
    Teams,
)
from backend.types import JSON
from ui.client import Client

PAGE_ROWS = 50
MAX_PAGE = 200


def list_people(
    client: Client,
    q: str,
    cursor: str | None,
    limit: int = PAGE_ROWS,
    team: str | None = None,
) -> People:
    """Return a page of people and service accounts, or of a team's members, by name."""
    return client.get(People, "people", q=q or None, team=team, cursor=cursor, limit=limit)


def get_person(client: Client, user_id: str) -> Person:
    """Return one person or service account."""
    return client.get(Person, path_of(user_id))


def add_person(client: Client, new: JSON) -> Invited:
    """Invite a person, or make a service account: a `NewPerson` as it was typed."""
    return client.call(Invited, "POST", "people", json=new)


def change_person(client: Client, user_id: str, change: JSON) -> Person:
    """Change, disable or enable a person: a `PersonChange` as it was typed."""
    return client.call(Person, "PATCH", path_of(user_id), json=change)


def make_reset_link(client: Client, user_id: str) -> ResetLink:
    """Make a link by which a person sets a password; earlier ones end."""
    return client.call(ResetLink, "POST", f"{path_of(user_id)}/reset-link")


def list_teams(client: Client) -> list[TeamDetails]:
    """Return all teams, by name."""
    return client.get(Teams, "teams").items


def add_team(client: Client, name: str) -> TeamDetails:
    """Make a team."""
    body = {"name": name}
    return client.call(TeamDetails, "POST", "teams", json=body)


def rename_team(client: Client, team_id: str, name: str) -> TeamDetails:
    """Rename a team."""
    body = {"name": name}
    return client.call(TeamDetails, "PATCH", _team_path(team_id), json=body)


def delete_team(client: Client, team_id: str) -> None:
    """Delete a team that owns no sessions, and what it was granted."""
    client.send("DELETE", _team_path(team_id))


def set_member(client: Client, team_id: str, user_id: str, *, is_member: bool) -> TeamDetails:
    """Make a person a member of a team, or end that."""
    path = f"{_team_path(team_id)}/members/{quote(user_id, safe='')}"
    return client.call(TeamDetails, "PUT" if is_member else "DELETE", path)


def path_of(user_id: str) -> str:
    """Return the path of a person or service account in the API."""
    return f"people/{quote(user_id, safe='')}"


def _team_path(team_id: str) -> str:
    return f"teams/{quote(team_id, safe='')}"
