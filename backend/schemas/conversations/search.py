"""The wire contract of search: where something was said, and the words around it."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from backend.schemas.conversations.sessions import ContentType, MessageType
from backend.schemas.wire import Wire


class SnippetPart(Wire):
    """A piece of a snippet, as plain text."""

    text: str
    is_hit: bool = Field(description="It is what was searched for.")


class SearchHit(Wire):
    """A display message in which all that was searched for is said."""

    session_id: UUID
    session_title: str
    domain: str
    archived: bool
    owner: str
    position: int
    message_id: UUID
    turn_id: UUID | None
    message_type: MessageType
    content_type: ContentType
    agent: str | None
    created_at: datetime
    is_on_branch: bool = Field(description="It is on the branch that its session shows.")
    snippet: list[SnippetPart] = Field(
        description="The words around the first hit, in order. `…` stands where text is left out."
    )


class SearchPage(Wire):
    """One page of what was found, the newest message first; a null cursor: there is no more."""

    items: list[SearchHit]
    next_cursor: str | None
    is_complete: bool = Field(
        description="All messages are searched. After a crash of the database its search index is"
        " made again, which takes minutes; some earlier messages are not found meanwhile."
    )
