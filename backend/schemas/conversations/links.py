"""The wire contract of read-only links to sessions."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Input, Wire

LINK_DAYS = 30
MAX_LINK_DAYS = 365


class LinkState(StrEnum):
    """Whether a link still opens its session, and if not, why."""

    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"
    DISABLED = "disabled"  # who made it has no account any more, or does not own the session


class LinkToMake(Input):
    """How long a new link opens its session."""

    days: int = Field(LINK_DAYS, ge=1, le=MAX_LINK_DAYS)


class SessionLink(Wire):
    """A link to a session, without its token."""

    id: UUID
    state: LinkState = LinkState.VALID
    made_by: str = ""
    created_at: datetime
    expires_at: datetime | None = Field(None, description="Null: it does not expire.")
    revoked_at: datetime | None = Field(description="Null while it was not revoked.")


class NewSessionLink(SessionLink):
    """A new link; its token appears in this response only."""

    token: str = Field(description="Opens `/shared/{token}`. Not stored and never shown again.")


class SessionLinks(Wire):
    """All links of a session, newest first."""

    items: list[SessionLink]


class SharedSession(Wire):
    """What the holder of a link learns about its session, besides its messages."""

    id: UUID
    title: str
    domain: str
    owner: str
    message_count: int
    updated_at: datetime
