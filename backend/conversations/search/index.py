"""The search entries: a trigger adds them, and a crash of PostgreSQL empties their table.

Missing entries are recreated from the messages in batches, so that a large installation can be
searched partly after seconds and fully after minutes.
"""

from threading import Event
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from db.models.conversations.search_entry import SearchIndexRow
from db.session import Database

BATCH = 1_000  # messages
_ONE = 1  # the only row of its table


def is_complete(session: Session) -> bool:
    """Return whether all messages can be found."""
    return bool(session.scalar(select(SearchIndexRow.is_complete)))


def add_batch(session: Session) -> bool:
    """Recreate the entries of some messages; return whether there may be more to do.

    While another worker does this, there is nothing to do.
    """
    if is_complete(session):
        return False
    session.execute(
        insert(SearchIndexRow).values(id=_ONE, is_complete=False).on_conflict_do_nothing()
    )
    index = session.scalar(
        select(SearchIndexRow).where(~SearchIndexRow.is_complete).with_for_update(skip_locked=True)
    )
    if index is None:
        return False
    last = _add_after(session, index)
    if last is None:
        index.is_complete = True
    else:
        index.conversation_id, index.position = last
    return last is not None


def recreate_entries(database: Database, closing: Event) -> None:
    """Recreate all entries if they were lost, until they are complete or `closing` is set."""
    has_more = True
    while has_more and not closing.is_set():
        with database.transaction() as session:
            has_more = add_batch(session)


def count_missing(session: Session, conversation_id: UUID) -> int:
    """Return how many messages with text have no search entry.

    Return 0 while entries are being recreated anyway.
    """
    if not is_complete(session):
        return 0
    return int(session.execute(_COUNT, {"conversation": conversation_id}).scalar_one())


def add_missing(session: Session, conversation_id: UUID) -> None:
    """Create the missing entries of one conversation."""
    session.execute(_ADD, {"conversation": conversation_id})


def _add_after(session: Session, index: SearchIndexRow) -> tuple[UUID, int] | None:
    place = {"conversation": index.conversation_id or UUID(int=0), "position": index.position or 0}
    last = session.execute(_ADD_BATCH, {**place, "limit": BATCH}).one_or_none()
    return (last.conversation_id, last.position) if last else None


_MISSING = """
    FROM display_messages AS said
    JOIN conversations ON conversations.id = said.conversation_id,
    message_text(said.content_type, said.content) AS shown
    WHERE said.conversation_id = :conversation AND shown <> '' AND NOT EXISTS (
        SELECT FROM search_entries AS entry
        WHERE entry.conversation_id = said.conversation_id AND entry.position = said.position)
"""
_INSERT = (
    "INSERT INTO search_entries (conversation_id, position, created_at, words)"
    " SELECT said.conversation_id, said.position, said.created_at,"
    " entry_words(holder_word(owner_id, team), said.content_type, shown)"
)
_COUNT = text(f"SELECT count(*) {_MISSING}")
_ADD = text(f"{_INSERT} {_MISSING} ON CONFLICT DO NOTHING")
# Positions start at one.
_BATCH = """
    SELECT conversation_id, position, created_at, content_type, content FROM display_messages
    WHERE (conversation_id, position) > (:conversation, :position)
    ORDER BY conversation_id, position LIMIT :limit
"""
_SHOWN = """
    FROM batch AS said
    JOIN conversations ON conversations.id = said.conversation_id,
    message_text(said.content_type, said.content) AS shown
    WHERE shown <> ''
"""
_LAST = """
    SELECT conversation_id, position FROM batch
    ORDER BY conversation_id DESC, position DESC LIMIT 1
"""
_ADD_BATCH = text(
    f"WITH batch AS MATERIALIZED ({_BATCH}),"
    f" added AS ({_INSERT} {_SHOWN} ON CONFLICT DO NOTHING) {_LAST}"
)
