"""The wire contract of search: matching messages, and the words around each match."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Wire
from colloquy_kit.messages.kinds import ContentType, MessageType


class SnippetPart(Wire):
    """A piece of a snippet, as plain text."""

    text: str
    is_hit: bool = Field(description="It matches the query.")


class SearchHit(Wire):
    """A display message that matches the whole query."""

    session_id: UUID
    session_title: str
    domain: str
    archived: bool
    owner: str
    owner_name: str = Field(description="The owner's name.")
    position: int
    message_id: UUID
    turn_id: UUID | None
    message_type: MessageType
    content_type: ContentType
    agent: str | None
    created_at: datetime
    is_on_branch: bool = Field(description="It is on its session's active branch.")
    snippet: list[SnippetPart] = Field(
        description="The words around the first match, in order. `…` marks omitted text. Empty in"
        " sessions of others that the caller may not read now."
    )


class SearchPage(Wire):
    """One page of hits: what was said, then all else, each newest first; a null cursor: no more."""

    items: list[SearchHit]
    next_cursor: str | None
    is_complete: bool = Field(
        description="The search index is complete. After a database crash it is rebuilt, which"
        " takes minutes; until then some older messages are not found."
    )
