"""Grants, principals and teams in the memory of the fake API."""

from datetime import UTC, datetime

from fastapi import FastAPI

from backend.schemas.conversations.links import SessionLinks
from backend.schemas.people.grants import (
    Grant,
    Grants,
    NewGrant,
    NewSessionGrant,
    Principal,
    Principals,
    Reach,
    ReachedSessions,
    Withheld,
)
from backend.schemas.people.rights import PrincipalType, Resource, Role
from tests.ui.fakes.account import FakeAccount

ANN = Principal(type=PrincipalType.USER, id="ann", name="Ann Smith")
CONTROLLERS = Principal(type=PrincipalType.TEAM, id="controllers", name="Controllers")
NAMES = {one.id: one.name for one in (ANN, CONTROLLERS)}


class FakeGrants:
    """The grants that were made."""

    def __init__(self):
        self.made: list[Grant] = []

    def put(self, new: NewGrant) -> Grant:
        values = new.model_dump()
        name = NAMES.get(new.principal_id, "everyone")
        made = Grant(
            **values, principal_name=name, granted_by="local", created_at=datetime.now(UTC)
        )
        self.made.append(made)
        return made

    def of(self, kind: str, resource_id: str | None) -> list[Grant]:
        return [
            one
            for one in self.made
            if one.resource_type == kind and resource_id in (None, one.resource_id)
        ]

    def remove(self, kind: str, resource_id: str, principal_id: str) -> None:
        gone = (kind, resource_id, principal_id)
        self.made = [
            one
            for one in self.made
            if (one.resource_type, one.resource_id, one.principal_id) != gone
        ]


def add_grant_routes(app: FastAPI, api: str, store) -> None:
    grants: FakeGrants = store.grants

    @app.get(f"{api}/principals")
    def principals(q: str = "", limit: int = 50) -> Principals:
        return Principals(items=[o for o in (CONTROLLERS, ANN) if q.lower() in o.name.lower()])

    @app.get(f"{api}/sessions/{{session_id}}/grants")
    def of_session(session_id: str) -> Grants:
        return Grants(items=grants.of("session", session_id))

    @app.put(f"{api}/sessions/{{session_id}}/grants")
    def share(session_id: str, body: NewSessionGrant) -> Grant:
        given = {"resource_type": Resource.SESSION, "resource_id": session_id}
        return grants.put(NewGrant(**given, **body.model_dump()))

    @app.delete(f"{api}/sessions/{{session_id}}/grants", status_code=204)
    def unshare(session_id: str, principal_type: str, principal_id: str = "") -> None:
        grants.remove("session", session_id, principal_id)

    @app.get(f"{api}/sessions/{{session_id}}/links")
    def links(session_id: str) -> SessionLinks:
        return SessionLinks(items=[])

    _add_routes_of_administrators(app, api, grants, store.account)


def _add_routes_of_administrators(
    app: FastAPI, api: str, grants: FakeGrants, account: FakeAccount
) -> None:
    @app.get(f"{api}/grants")
    def list_grants(resource_type: str, resource_id: str | None = None) -> Grants:
        found = grants.of(resource_type, resource_id)
        people = [ANN] if found and resource_id else None
        return Grants(items=found, is_everyones=not found, people=people)

    @app.put(f"{api}/grants")
    def put(body: NewGrant) -> Grant:
        return grants.put(body)

    @app.delete(f"{api}/grants", status_code=204)
    def remove(
        resource_type: str, resource_id: str, principal_type: str, principal_id: str, right: str
    ) -> None:
        grants.remove(resource_type, resource_id, principal_id)

    @app.get(f"{api}/people/{{user_id}}/reach")
    def reach(user_id: str) -> Reach:
        return Reach(
            user_id=user_id, name=NAMES[user_id], role=Role.MEMBER, teams=account.teams,
            sessions=ReachedSessions(own=3, of_teams=2, shared=1), domains=[], sources=["fi"],
            grants=[], withheld=[Withheld(resource_type=Resource.SOURCE, resource_id="bpc")],
        )  # fmt: skip
