"""The wire contract of read-only links to sessions."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Wire


class SessionLink(Wire):
    """A link to a session, without its token."""

    id: UUID
    created_at: datetime
    revoked_at: datetime | None = Field(description="Null while the link is valid.")


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
