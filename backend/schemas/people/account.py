"""The wire contract of one's own account: signing in, sign-ins, API tokens."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.people.rights import Allows, Permission, Role
from backend.schemas.wire import Input, Wire

MAX_NAME_CHARS = 200
# The header of calls that an open page makes by itself: they are no use of its sign-in, which
# ends when its person has left.
UNATTENDED = {"Colloquy-Unattended": "true"}
MAX_PASSWORD_CHARS = 1_000  # longer ones are refused by length before anything is computed


class Password(Input):
    """What a person signs in with."""

    login: str = Field(max_length=MAX_NAME_CHARS)
    password: str = Field(max_length=MAX_PASSWORD_CHARS)


class NewPassword(Input):
    """A password to be set by a one-time link; a new account also chooses its names."""

    password: str = Field(max_length=MAX_PASSWORD_CHARS)
    login: str | None = Field(None, max_length=MAX_NAME_CHARS)
    name: str | None = Field(None, max_length=MAX_NAME_CHARS)


class PasswordChange(Input):
    """One's own password, changed by its holder."""

    old: str = Field(max_length=MAX_PASSWORD_CHARS)
    new: str = Field(max_length=MAX_PASSWORD_CHARS)


class SignedIn(Wire):
    """A new sign-in. The token is shown here only; pages keep it in a cookie."""

    token: str
    user_id: str


class LinkPurpose(StrEnum):
    """What a one-time link is for."""

    FIRST_ADMIN = "first_admin"
    INVITATION = "invitation"
    RESET = "reset"


class OneTimeLink(Wire):
    """What a one-time link is for, and whose; `login` is null where it is yet to be chosen."""

    purpose: LinkPurpose
    login: str | None
    name: str | None


class Way(Wire):
    """A way of signing in, as the sign-in page offers it. `id`: the identity provider's."""

    way: str = Field(examples=["local", "oidc", "proxy"])
    id: str | None = None
    name: str | None = None


class Ways(Wire):
    """How people sign in; none where one local person works without."""

    items: list[Way]


class Team(Wire):
    """A team of the caller."""

    id: str
    name: str


class Account(Wire):
    """Who the caller is, and what they may do."""

    user_id: str
    name: str
    login: str | None
    email: str | None
    role: Role
    permissions: list[Permission]
    allows: Allows = Field(description="What the token of this call allows.")
    teams: list[Team]
    has_password: bool
    sign_in: UUID | None = Field(description="The sign-in of this call; null for API tokens.")


class SignIn(Wire):
    """One open sign-in of the caller."""

    id: UUID
    way: str
    address: str
    browser: str
    created_at: datetime
    used_at: datetime
    ends_at: datetime
    is_this: bool


class SignIns(Wire):
    """The caller's open sign-ins, the latest first."""

    items: list[SignIn]


class NewToken(Input):
    """An API token to be made."""

    name: str = Field(min_length=1, max_length=MAX_NAME_CHARS)
    allows: Allows = Allows.ASK
    expires_in_days: int | None = Field(
        90, ge=1, le=3_650, description="null: it does not expire, which needs an administrator."
    )


class ApiToken(Wire):
    """An API token, without its text."""

    id: UUID
    name: str
    allows: Allows
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None


class MadeToken(ApiToken):
    """A new API token: its text is shown here only."""

    token: str


class ApiTokens(Wire):
    """The API tokens of one person or service account, the latest first."""

    items: list[ApiToken]
