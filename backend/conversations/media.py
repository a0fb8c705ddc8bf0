"""Pictures and files in a conversation's tool results: listing them, and reading their bytes."""

import base64
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations.message_filter import is_on
from backend.conversations.messages import get_result
from backend.conversations.paths import Path
from backend.conversations.service import visible_to
from backend.errors.conversations import ResultNotFound, SessionNotFound
from colloquy_kit.messages.kinds import ContentType
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import DisplayMessageRow

MOST_MEDIA = 200  # per conversation, newest first


@dataclass(frozen=True)
class Medium:
    """A picture or file of a tool's result."""

    result_id: UUID
    tool: str
    call_id: str
    name: str
    size: int


def list_media(session: Session, scope: Scope, conversation_id: UUID) -> list[Medium]:
    """Return the active branch's media from tool results, newest first. Raise SessionNotFound."""
    found = session.execute(
        select(ConversationRow.message_count, ConversationRow.path).where(
            ConversationRow.id == conversation_id, visible_to(scope)
        )
    ).one_or_none()
    if found is None:
        raise SessionNotFound
    path = Path.read(found.path).close(found.message_count)
    if not path.ranges:
        return []
    row = DisplayMessageRow
    rows = session.execute(
        select(row.content, row.metadata_)
        .where(row.conversation_id == conversation_id, is_on(path))
        .where(row.content_type.in_((ContentType.IMAGE, ContentType.FILE)))
        .where(row.metadata_.has_key("result_id"))
        .order_by(row.position.desc())
        .limit(MOST_MEDIA)
    )
    return [
        Medium(
            result_id=UUID(metadata["result_id"]),
            tool=content.get("tool") or "",
            call_id=content.get("tool_call_id") or "",
            name=content.get("name") or "",
            size=content.get("bytes") or 0,
        )
        for content, metadata in rows
    ]


def read_medium(session: Session, scope: Scope, conversation_id: UUID, medium: Medium) -> bytes:
    """Return the bytes of a picture or file. Raise ResultNotFound."""
    result = get_result(session, scope, conversation_id, medium.result_id)
    if "data" not in result:
        raise ResultNotFound
    return base64.b64decode(result["data"])
