"""What models were sent, in PostgreSQL: contents stored once, records with their steps."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from db.models.conversations.agent_state import SentContentRow


def keep_contents(session: Session, conversation_id: UUID, contents: Mapping[str, str]) -> None:
    """Store the contents that are not stored yet."""
    if not contents:
        return
    rows = [
        {"conversation_id": conversation_id, "hash": name, "content": text}
        for name, text in contents.items()
    ]
    session.execute(insert(SentContentRow).values(rows).on_conflict_do_nothing())


def load_contents(session: Session, conversation_id: UUID, names: Iterable[str]) -> dict[str, str]:
    """Return the contents with these names, as JSON text."""
    rows = session.execute(
        select(SentContentRow.hash, SentContentRow.content)
        .where(SentContentRow.conversation_id == conversation_id)
        .where(SentContentRow.hash.in_(list(names)))
    )
    return {name: str(text) for name, text in rows}
