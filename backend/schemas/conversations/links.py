"""The wire contract of links by which others read a session."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Wire


class SessionLink(Wire):
    """A link to a session, without what opens it."""

    id: UUID
    created_at: datetime
    revoked_at: datetime | None = Field(description="Null while it opens the session.")


class NewSessionLink(SessionLink):
    """A link that was just made: the only answer that has its token."""

    token: str = Field(description="Opens `/shared/{token}`. It is not stored, nor told again.")


class SessionLinks(Wire):
    """All links of a session, the newest first."""

    items: list[SessionLink]


class SharedSession(Wire):
    """What whoever has a link is told of its session, besides its messages."""

    id: UUID
    title: str
    domain: str
    owner: str
    message_count: int
    updated_at: datetime
