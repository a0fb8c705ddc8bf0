"""Teams and their members, for administrators."""

from typing import Annotated

from fastapi import APIRouter, Path

from backend.api.dependencies import CallersDep, ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent, Text
from backend.people import teams
from backend.schemas.people.people import NewTeam, TeamDetails, Teams

router = APIRouter(tags=["people"])
Id = Annotated[Text, Path(min_length=1, max_length=200)]


@router.get("/teams")
def list_teams(services: ServicesDep, scope: ReadScope) -> Teams:
    """All teams by name, with their members."""
    with services.database.read() as session:
        return teams.list_teams(session, scope)


@router.post("/teams", status_code=201)
def add_team(body: Sent[NewTeam], services: ServicesDep, scope: ManageScope) -> TeamDetails:
    """Make a team."""
    with services.database.transaction() as session:
        return teams.add_team(session, scope, body)


@router.patch("/teams/{team_id}")
def rename_team(
    team_id: Id, body: Sent[NewTeam], services: ServicesDep, scope: ManageScope
) -> TeamDetails:
    """Rename a team."""
    with services.database.transaction() as session:
        return teams.rename_team(session, scope, team_id, body)


@router.delete("/teams/{team_id}", status_code=204)
def delete_team(
    team_id: Id, services: ServicesDep, scope: ManageScope, callers: CallersDep
) -> None:
    """Delete a team that owns no sessions, and what it was granted."""
    with services.database.transaction() as session:
        teams.delete_team(session, scope, team_id)
    callers.forget()


@router.put("/teams/{team_id}/members/{user_id}")
def add_member(
    team_id: Id, user_id: Id, services: ServicesDep, scope: ManageScope, callers: CallersDep
) -> TeamDetails:
    """Make a person a member of a team."""
    with services.database.transaction() as session:
        team = teams.add_member(session, scope, team_id, user_id)
    callers.forget()
    return team


@router.delete("/teams/{team_id}/members/{user_id}")
def remove_member(
    team_id: Id, user_id: Id, services: ServicesDep, scope: ManageScope, callers: CallersDep
) -> TeamDetails:
    """End a person's membership of a team."""
    with services.database.transaction() as session:
        team = teams.remove_member(session, scope, team_id, user_id)
    callers.forget()
    return team
