"""The wire contract of people, service accounts and teams, as administrators see them."""

from datetime import datetime

from pydantic import Field

from backend.schemas.people.account import MAX_NAME_CHARS
from backend.schemas.people.rights import Role
from backend.schemas.wire import Change, Input, Wire


class Person(Wire):
    """One person or service account."""

    id: str
    name: str
    login: str | None
    email: str | None
    role: Role
    organisation: str | None
    is_service: bool
    teams: list[str] = Field(description="The ids of their teams.")
    created_at: datetime
    seen_at: datetime | None
    disabled_at: datetime | None
    is_invited: bool = Field(description="They have no way to sign in yet but their invitation.")


class People(Wire):
    """A keyset page of people, by name."""

    items: list[Person]
    next_cursor: str | None


class NewPerson(Input):
    """A person to be invited, or a service account to be made."""

    name: str = Field(min_length=1, max_length=MAX_NAME_CHARS)
    login: str | None = Field(None, max_length=MAX_NAME_CHARS)
    email: str | None = Field(None, max_length=MAX_NAME_CHARS)
    role: Role = Role.MEMBER
    organisation: str | None = Field(None, max_length=MAX_NAME_CHARS)
    is_service: bool = False


class Mailed(Wire):
    """A mail with a one-time link; `problem`: why it was not sent."""

    to: str
    problem: str | None = None


class Invited(Wire):
    """A new person; `link_token` is null for service accounts. It is shown here only."""

    person: Person
    link_token: str | None
    mailed: Mailed | None = Field(
        None, description="null: no mail server is set, or the person has no address."
    )


class ResetLink(Wire):
    """A one-time link's token. It is shown here only."""

    link_token: str
    mailed: Mailed | None = Field(
        None, description="null: no mail server is set, or the person has no address."
    )


class PersonChange(Change):
    """What to change; what is absent stays. Disabling ends pages, turns, tokens and links."""

    name: str | None = Field(None, min_length=1, max_length=MAX_NAME_CHARS)
    email: str | None = Field(None, max_length=MAX_NAME_CHARS)
    role: Role | None = None
    organisation: str | None = Field(None, max_length=MAX_NAME_CHARS)
    disabled: bool | None = None


class NewTeam(Input):
    """A team's name."""

    name: str = Field(min_length=1, max_length=MAX_NAME_CHARS)


class TeamDetails(Wire):
    """A team and its members' ids."""

    id: str
    name: str
    members: list[str]
    created_at: datetime


class Teams(Wire):
    """All teams, by name."""

    items: list[TeamDetails]
