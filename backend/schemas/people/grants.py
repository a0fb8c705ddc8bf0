"""The wire contract of grants: who has which right on what."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from backend.schemas.people.account import Team
from backend.schemas.people.rights import PrincipalType, Resource, Right, Role
from backend.schemas.wire import Input, Wire

MAX_ID_CHARS = 300


class Principal(Wire):
    """Somebody to whom rights can be granted: a person, a team, or everyone."""

    type: PrincipalType
    id: str = Field(description="Empty for everyone.")
    name: str


class Principals(Wire):
    """People and teams, by name."""

    items: list[Principal]


class Grant(Wire):
    """One right of one principal on one resource."""

    resource_type: Resource
    resource_id: str
    principal_type: PrincipalType
    principal_id: str
    principal_name: str
    right: Right
    granted_by: str
    created_at: datetime


class Grants(Wire):
    """A page of grants on resources of one kind."""

    items: list[Grant]
    next_cursor: str | None = None
    is_everyones: bool | None = Field(
        None,
        description="Whether everyone may use the resource; null where none was named. It is so"
        " until somebody is granted a domain, source, tool server, secret or model.",
    )
    people: list[Principal] | None = Field(
        None,
        description="Who has a right on the resource by these grants, teams' members included; null"
        " where none was named, and where it is everyone's.",
    )


class NewGrant(Input):
    """A right to grant; it takes the place of the principal's right on the resource, if any."""

    resource_type: Resource
    resource_id: str = Field(
        min_length=1,
        max_length=MAX_ID_CHARS,
        description="The id of a session, domain or file; the name of any other resource.",
    )
    principal_type: PrincipalType
    principal_id: str = Field("", max_length=MAX_ID_CHARS, description="Empty for everyone.")
    right: Right


class NewSessionGrant(Input):
    """With whom a session is shared, and whether they may only read it."""

    principal_type: PrincipalType
    principal_id: str = Field("", max_length=MAX_ID_CHARS, description="Empty for everyone.")
    right: Literal[Right.READ, Right.CONTINUE] = Right.READ


class Reached(Wire):
    """A resource of a kind, by its id and its name."""

    id: str
    name: str


class ReachedSessions(Wire):
    """How many sessions a person reaches, by the way they do."""

    own: int
    of_teams: int
    shared: int


class Withheld(Wire):
    """What was granted to others only."""

    resource_type: Resource
    resource_id: str


class Reach(Wire):
    """What one person may see and use, besides what their role allows."""

    user_id: str
    name: str
    role: Role
    teams: list[Team]
    sessions: ReachedSessions
    domains: list[Reached] = Field(description="The domains that they may use.")
    sources: list[str] = Field(description="The installation's sources that they may query.")
    grants: list[Grant] = Field(description="What was granted to them, their teams or everyone.")
    withheld: list[Withheld] = Field(
        description="Domains, sources, tool servers, secrets and models that others were granted."
    )
