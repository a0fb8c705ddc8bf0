"""The wire contract of identity providers: their settings, their test, and signing in with them.

A client secret is accepted here but never returned.
"""

from datetime import datetime
from enum import StrEnum
from ipaddress import ip_address
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from backend.schemas.people.rights import Role
from backend.schemas.wire import Change, Input, Wire

LONGEST = 200
LONGEST_URL = 2_000
LONGEST_SECRET = 4_000
LONGEST_ANSWER = 8_000  # of a code, or of any other parameter of an answer
MOST_GROUPS = 500
ID_PATTERN = r"^[a-z0-9][a-z0-9-]{0,39}$"
KEY_PATTERN = r"^[A-Za-z0-9_-]{43}$"
SCOPES = "openid profile email"


def check_endpoint(url: str) -> str:
    """Return an address that sign-ins may go through. Raise ValueError.

    Only TLS keeps codes and tokens from others (OpenID Connect Core 1.0, 16.17); loopback needs
    none.
    """
    try:
        parts = urlsplit(url)
        host, has_port = parts.hostname or "", parts.port != 0
    except ValueError:
        raise ValueError("this has a host or port that cannot be read") from None
    if parts.scheme not in ("http", "https") or not host or not has_port or not url.isprintable():
        raise ValueError("this must begin with https:// and name a host")
    if parts.username is not None or " " in url or parts.fragment:
        raise ValueError("this must have no user name, no spaces and no #")
    if parts.scheme == "http" and not _is_loopback(host):
        raise ValueError("this must begin with https://; http:// is for this machine only")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _issuer(url: str) -> str:
    if "?" in url:  # OpenID Connect Discovery 1.0, 3
        raise ValueError("this must have no ? in it: it is the provider's issuer")
    return check_endpoint(url)


def _scopes(text: str) -> str:
    names = text.split()
    if "openid" not in names or not text.isascii():
        raise ValueError("this must be names with spaces between, openid among them")
    return " ".join(names)


def _trimmed(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


Endpoint = Annotated[str, Field(max_length=LONGEST_URL), AfterValidator(check_endpoint)]
Issuer = Annotated[
    str, BeforeValidator(_trimmed), Field(max_length=LONGEST_URL), AfterValidator(_issuer)
]
Line = Annotated[str, BeforeValidator(_trimmed), Field(min_length=1, max_length=LONGEST)]
Secret = Annotated[SecretStr, Field(max_length=LONGEST_SECRET)]
Scopes = Annotated[str, Field(max_length=LONGEST), AfterValidator(_scopes)]
ProviderId = Annotated[str, Field(pattern=ID_PATTERN)]


class GroupMeaning(Input):
    """What being in a provider's group means here: a team, a role, or both."""

    team: str | None = Field(None, max_length=LONGEST, description="A team's id.")
    role: Role | None = None

    @model_validator(mode="after")
    def _means_something(self) -> Self:
        if self.team is None and self.role is None:
            raise ValueError("a group must have a team or a role here")
        return self


Groups = Annotated[dict[str, GroupMeaning], Field(max_length=MOST_GROUPS)]


class ProviderSettings(Input):
    """An OpenID Connect provider. Its issuer is compared letter by letter."""

    name: Line = Field(description="As the sign-in page calls it.", examples=["Example Ltd"])
    issuer: Issuer = Field(examples=["https://login.example.com"])
    client_id: Line
    client_secret: Secret = Field(SecretStr(""), description="Empty: a client without a secret.")
    scopes: Scopes = SCOPES
    groups_claim: Line | None = Field(
        None, description="The claim with a person's groups; dots lead into objects."
    )
    groups: Groups = Field(
        default={},
        description="What the claim's values mean here.",
        examples=[{"finance": {"team": "5c2a…"}, "auditors": {"role": "reviewer"}}],
    )
    admits_new: bool = Field(
        True,
        description="Whether people who were not invited become members; if not, only those who"
        " are in one of `groups`.",
    )


class NewProvider(ProviderSettings):
    """A provider to be added."""

    id: ProviderId = Field(
        description="Part of the address that the provider sends people back to; it stays."
    )


class ProviderChange(Change):
    """What to change of a provider; what is absent stays."""

    name: Line | None = None
    issuer: Issuer | None = None
    client_id: Line | None = None
    client_secret: Secret | None = Field(
        None,
        description="Absent: keep the stored one, which is for the stored issuer and client only.",
    )
    scopes: Scopes | None = None
    groups_claim: Line | None = Field(None, description="null: groups mean nothing.")
    groups: Groups | None = None
    admits_new: bool | None = None


class ProviderSource(StrEnum):
    """Where a provider is set."""

    PAGE = "page"
    ENVIRONMENT = "environment"


class IdentityProvider(Wire):
    """A provider, without its secret."""

    id: str
    source: ProviderSource
    name: str
    issuer: str
    client_id: str
    has_secret: bool
    scopes: str
    groups_claim: str | None
    groups: dict[str, GroupMeaning]
    admits_new: bool
    redirect_url: str = Field(description="To be registered at the provider, letter by letter.")
    key_problem: str | None = Field(None, description="Why the stored secret cannot be read.")
    created_at: datetime | None = Field(None, description="null: set in the environment.")


class IdentityProviders(Wire):
    """All providers, those of the environment first."""

    items: list[IdentityProvider]
    redirect_url: str = Field(description="Of a provider to be added; `{id}` stands for its id.")
    is_on: bool = Field(description="Whether AUTH names oidc, so that people can use them.")


class TestedProvider(Input):
    """A provider to test, saved or not."""

    __test__ = False  # no pytest class

    issuer: Issuer
    client_id: Line
    client_secret: Secret | None = Field(
        None, description="Absent: the stored one of the provider with this `id`, if any."
    )
    id: ProviderId | None = None


class ProviderTest(Wire):
    """What a test has found, in words."""

    is_usable: bool
    detail: str


class ProviderSignIn(Input):
    """A sign-in to begin at a provider."""

    provider: ProviderId
    link_token: str | None = Field(
        None, max_length=LONGEST, description="Of a one-time link that is completed by it."
    )
    browser_key: str | None = Field(
        None,
        pattern=KEY_PATTERN,
        description="That the browser keeps from another visit, which may come back as well.",
    )


class ProviderVisit(Wire):
    """Where to send the browser; it keeps `browser_key` until it comes back."""

    url: str
    browser_key: str
    lasts_seconds: int


class ProviderAnswer(Input):
    """With what the browser came back from a provider, and the key that it has kept."""

    provider: ProviderId = Field(description="Whose redirect address was opened.")
    browser_key: str = Field(max_length=LONGEST)
    state: str = Field(max_length=LONGEST_ANSWER)
    code: str | None = Field(None, max_length=LONGEST_ANSWER)
    iss: str | None = Field(None, max_length=LONGEST_ANSWER)
    error: str | None = Field(None, max_length=LONGEST_ANSWER)


class ProxiedPerson(Input):
    """A person as a trusted proxy names them, passed on by the pages' server."""

    user: str = Field(min_length=1, max_length=LONGEST)
    email: str | None = Field(None, max_length=LONGEST)
    name: str | None = Field(None, max_length=LONGEST)
    groups: list[str] = Field(default=[], max_length=1_000)
    link_token: str | None = Field(
        None, max_length=LONGEST, description="Of a one-time link that is completed by it."
    )
