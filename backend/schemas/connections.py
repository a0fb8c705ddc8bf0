"""The wire contract of the connection to models: the one in use, the saved one, test results.

An API key is accepted here but never returned.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from backend.schemas.bounds import LONGEST_MODEL_NAME, UpperBound
from backend.schemas.wire import Input, Wire

LONGEST_URL = 2_000
LONGEST_KEY = 4_000
MAX_PRICE = 1e9


class ConnectionSource(StrEnum):
    """The origin of the connection in use."""

    PAGE = "page"
    ENVIRONMENT = "environment"
    DEMO = "demo"


class TestOutcome(StrEnum):
    """The result of a real call to an endpoint."""

    __test__ = False  # the name starts with Test, but this is no pytest class

    OK = "ok"
    KEY_REFUSED = "key_refused"
    UNKNOWN_MODEL = "unknown_model"
    UNREACHABLE = "unreachable"
    NOT_COMPATIBLE = "not_compatible"
    REFUSED = "refused"


def _trimmed(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _base_url(url: str) -> str:
    if not url:
        return url
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ValueError("this has an invalid host or port") from None
    if parts.scheme not in ("http", "https") or not has_host or not url.isprintable():
        raise ValueError("this must begin with http:// or https:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise ValueError("this must not contain a user name or password; use the API key field")
    if parts.query or parts.fragment or " " in url:
        raise ValueError("this must end with its path, usually /v1, without ? or #")
    return url.rstrip("/")


def _header_text(key: str) -> str:
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ValueError("this is not an API key: it contains spaces or characters that no key has")
    return key


BaseUrl = Annotated[
    str, BeforeValidator(_trimmed), UpperBound(LONGEST_URL), AfterValidator(_base_url)
]
ApiKey = Annotated[
    str, BeforeValidator(_trimmed), UpperBound(LONGEST_KEY), AfterValidator(_header_text)
]
DefaultModel = Annotated[
    str, BeforeValidator(_trimmed), Field(min_length=1), UpperBound(LONGEST_MODEL_NAME)
]


class EndpointInput(Input):
    """An endpoint and its key."""

    base_url: BaseUrl = Field(
        "",
        description="An OpenAI-compatible endpoint, including `/v1`; empty: OpenAI's.",
        examples=["https://api.openai.com/v1"],
    )
    api_key: ApiKey | None = Field(
        None,
        description="Absent: keep the saved key, which is only sent to the host it was saved for."
        " Empty: the endpoint needs no key.",
    )


class TestedConnectionInput(EndpointInput):
    """A connection to test."""

    __test__ = False  # no pytest class

    default_model: DefaultModel | None = Field(
        None,
        description="The model to ask. Absent: none is asked, the endpoint's models are listed.",
        examples=["gpt-4o"],
    )


class SavedConnectionInput(EndpointInput):
    """A connection to save."""

    default_model: DefaultModel = Field(
        description="The model to use where a domain names none.", examples=["gpt-4o"]
    )
    replaces: datetime | None = Field(
        None,
        description="`saved_at` of the connection that this one replaces, null if none was saved;"
        " 409 if another was saved since. Absent: replace whichever is saved.",
    )


class ConnectionUsed(Wire):
    """A connection, without its key."""

    base_url: str = Field(description="Empty: the demo model, which has no public address.")
    default_model: str
    has_key: bool


class ModelConnection(ConnectionUsed):
    """The connection in use, and its origin."""

    source: ConnectionSource
    saved_by: str | None = Field(None, description="Who saved it on the page.")
    saved_at: datetime | None = None
    key_problem: str | None = Field(
        None, description="Why the saved key cannot be read, and what to do; null: it is readable."
    )
    environment: ConnectionUsed = Field(description="The environment's connection, used or not.")
    environment_is_demo: bool = Field(
        description="The environment names no endpoint; the demo model answers unless one is saved."
    )


class ConnectionTest(Wire):
    """The result of a real call to an endpoint, in words."""

    outcome: TestOutcome
    detail: str
    seconds: float | None = Field(None, description="Seconds until the answer began.")
    models: list[str] = Field(
        default=[], description="Models that the endpoint lists; empty if it lists none."
    )


class PriceSource(StrEnum):
    """Where a price is set."""

    PAGE = "page"
    ENVIRONMENT = "environment"


class ModelPriceInput(Input):
    """What a model costs per million tokens, in any one currency."""

    model: DefaultModel
    input: float = Field(ge=0, le=MAX_PRICE)
    cached: float | None = Field(
        None, ge=0, le=MAX_PRICE, description="Of input that the endpoint had kept; null: as input."
    )
    output: float = Field(ge=0, le=MAX_PRICE)


class ModelPrice(Wire):
    """The price of a model, per million tokens, and where it is set."""

    model: str
    input: float
    cached: float | None
    output: float
    source: PriceSource
    replaces_environment: bool = Field(description="The environment has another one for it.")
    saved_by: str | None
    saved_at: datetime | None


class ModelPrices(Wire):
    """All prices, by model."""

    items: list[ModelPrice]
