"""The people, teams and audit trail of the fake API."""

from datetime import UTC, datetime
from uuid import uuid4

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response

from backend.schemas.conversations.sessions import Problem
from backend.schemas.operations.audit import AuditEvent, AuditKinds, AuditPage
from backend.schemas.people.account import ApiToken, ApiTokens, MadeToken, NewToken
from backend.schemas.people.people import (
    Invited,
    Mailed,
    NewPerson,
    NewTeam,
    People,
    Person,
    PersonChange,
    ResetLink,
    TeamDetails,
    Teams,
)


class FakePeople:
    """Whom the fake knows; `refusal`: how it refuses each change."""

    def __init__(self):
        self.people: dict[str, Person] = {}
        self.teams: dict[str, TeamDetails] = {}
        self.tokens: list[ApiToken] = []
        self.events: list[AuditEvent] = []
        self.asked_of_audit: list[dict] = []
        self.mailed: Mailed | None = None
        self.refusal: Problem | None = None

    def add(self, name, **fields) -> Person:
        values = {
            "id": name.lower(), "name": name, "login": name.lower(), "email": None,
            "role": "member", "organisation": None, "is_service": False, "teams": [],
            "created_at": datetime.now(UTC), "seen_at": None, "disabled_at": None,
            "is_invited": False,
        } | fields  # fmt: skip
        person = self.people[values["id"]] = Person(**values)
        return person

    def add_team(self, name, *members) -> TeamDetails:
        team = TeamDetails(
            id=name.lower(), name=name, members=list(members), created_at=datetime.now(UTC)
        )
        self.teams[team.id] = team
        return team

    def add_event(self, action, **fields) -> AuditEvent:
        values = {
            "id": len(self.events) + 1, "at": datetime.now(UTC), "actor": "ada",
            "actor_name": "Ada", "action": action, "subject": "user", "subject_id": "bob",
            "subject_name": "Bob", "details": {},
        } | fields  # fmt: skip
        event = AuditEvent(**values)
        self.events.insert(0, event)
        return event


def add_people_routes(app: FastAPI, held: FakePeople, api: str) -> None:  # noqa: C901 (routes)
    def refused():
        return JSONResponse(held.refusal.model_dump(), held.refusal.status)

    @app.get(f"{api}/people")
    def people(q: str = "", team: str = "", cursor: int = 0, limit: int = 50) -> People:
        found = [
            one for one in held.people.values()
            if q.lower() in one.name.lower() and (not team or one.id in held.teams[team].members)
        ]  # fmt: skip
        more = len(found) > cursor + limit
        return People(
            items=found[cursor : cursor + limit], next_cursor=str(cursor + limit) if more else None
        )

    @app.post(f"{api}/people", status_code=201)
    def add(new: NewPerson):
        if held.refusal:
            return refused()
        fields = new.model_dump(exclude={"name"})
        person = held.add(new.name, **fields, is_invited=not new.is_service)
        token = None if new.is_service else "cql_once"
        return Invited(person=person, link_token=token, mailed=held.mailed)

    @app.get(f"{api}/people/{{user_id}}")
    def get(user_id: str) -> Person:
        return held.people[user_id]

    @app.patch(f"{api}/people/{{user_id}}")
    def change(user_id: str, wanted: PersonChange):
        if held.refusal:
            return refused()
        values = wanted.model_dump(exclude_unset=True)
        if "disabled" in values:
            values["disabled_at"] = datetime.now(UTC) if values.pop("disabled") else None
        held.people[user_id] = held.people[user_id].model_copy(update=values)
        return held.people[user_id]

    @app.post(f"{api}/people/{{user_id}}/reset-link", status_code=201)
    def reset(user_id: str) -> ResetLink:
        return ResetLink(link_token="cql_reset", mailed=held.mailed)

    @app.get(f"{api}/people/{{user_id}}/tokens")
    def tokens(user_id: str) -> ApiTokens:
        return ApiTokens(items=held.tokens)

    @app.post(f"{api}/people/{{user_id}}/tokens", status_code=201)
    def make_token(user_id: str, new: NewToken) -> MadeToken:
        token = ApiToken(
            id=uuid4(), name=new.name, allows=new.allows, created_at=datetime.now(UTC),
            expires_at=None, used_at=None, revoked_at=None,
        )  # fmt: skip
        held.tokens.append(token)
        return MadeToken(token="cqt_once", **token.model_dump())

    @app.delete(f"{api}/people/{{user_id}}/tokens/{{token_id}}")
    def revoke(user_id: str, token_id: str) -> ApiToken:
        (token,) = [one for one in held.tokens if str(one.id) == token_id]
        token.revoked_at = datetime.now(UTC)
        return token

    add_team_routes(app, held, api)

    @app.get(f"{api}/audit")
    def audit(
        action: str = "", subject: str = "", actor: str = "", since: str = "", cursor: int = 0,
        limit: int = 50,
    ) -> AuditPage:  # fmt: skip
        held.asked_of_audit.append({"action": action, "subject": subject, "actor": actor})
        found = [one for one in held.events if not action or one.action == action]
        more = len(found) > cursor + limit
        return AuditPage(
            items=found[cursor : cursor + limit], next_cursor=str(cursor + limit) if more else None
        )

    @app.get(f"{api}/audit/kinds")
    def kinds() -> AuditKinds:
        return AuditKinds(
            actions=sorted({one.action for one in held.events}),
            subjects=sorted({one.subject for one in held.events}),
        )


def add_team_routes(app: FastAPI, held: FakePeople, api: str) -> None:
    @app.get(f"{api}/teams")
    def teams() -> Teams:
        return Teams(items=list(held.teams.values()))

    @app.post(f"{api}/teams", status_code=201)
    def make(new: NewTeam):
        if held.refusal:
            return JSONResponse(held.refusal.model_dump(), held.refusal.status)
        return held.add_team(new.name)

    @app.patch(f"{api}/teams/{{team_id}}")
    def rename(team_id: str, new: NewTeam) -> TeamDetails:
        held.teams[team_id].name = new.name
        return held.teams[team_id]

    @app.delete(f"{api}/teams/{{team_id}}")
    def delete(team_id: str):
        if held.refusal:
            return JSONResponse(held.refusal.model_dump(), held.refusal.status)
        del held.teams[team_id]
        return Response(status_code=204)

    @app.put(f"{api}/teams/{{team_id}}/members/{{user_id}}")
    def add_member(team_id: str, user_id: str) -> TeamDetails:
        held.teams[team_id].members.append(user_id)
        return held.teams[team_id]

    @app.delete(f"{api}/teams/{{team_id}}/members/{{user_id}}")
    def remove_member(team_id: str, user_id: str) -> TeamDetails:
        held.teams[team_id].members.remove(user_id)
        return held.teams[team_id]
