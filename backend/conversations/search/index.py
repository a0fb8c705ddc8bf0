"""The entries of one conversation, looked after: a trigger adds them, so none should be missing."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session


def count_missing(session: Session, conversation_id: UUID) -> int:
    """Return how many messages have a text and cannot be found by it."""
    return int(session.execute(_COUNT, {"conversation": conversation_id}).scalar_one())


def add_missing(session: Session, conversation_id: UUID) -> None:
    """Make the entries that are missing."""
    session.execute(_ADD, {"conversation": conversation_id})


_MISSING = """
    FROM display_messages AS said
    JOIN conversations ON conversations.id = said.conversation_id,
    message_text(said.content_type, said.content) AS shown
    WHERE said.conversation_id = :conversation AND shown <> '' AND NOT EXISTS (
        SELECT FROM search_entries AS entry
        WHERE entry.conversation_id = said.conversation_id AND entry.position = said.position)
"""
_COUNT = text(f"SELECT count(*) {_MISSING}")
_ADD = text(
    "INSERT INTO search_entries (conversation_id, position, created_at, words)"
    " SELECT said.conversation_id, said.position, said.created_at,"
    f" entry_words(conversations.owner_id, shown) {_MISSING} ON CONFLICT DO NOTHING"
)
