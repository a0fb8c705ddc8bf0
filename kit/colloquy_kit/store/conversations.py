"""Conversations: created, read, changed, listed and deleted, each for whose they are.

`whose` is the host's condition on its conversations, such as `Conversation.user_id == 7`. What it
leaves out does not exist, neither for reading nor for writing.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, delete, select, tuple_, update
from sqlalchemy.orm import Session

from colloquy_kit.store.errors import NotAllowed, NotFound, StaleVersion
from colloquy_kit.store.tables import C, M, S, Tables

Whose = ColumnElement[bool]

CHANGEABLE = ("title", "metadata")
ORDERS = ("updated_at", "inserted_at", "title")
MOST_LISTED = 1000


def create_conversation(
    session: Session,
    tables: Tables[C, S, M],
    values: Mapping[str, Any] | None = None,
    *,
    owner: Mapping[str, Any] | None = None,
    scope: Mapping[str, Any] | None = None,
    fields: Collection[str] = CHANGEABLE,
) -> C:
    """Return a new conversation with its values: `title`, `metadata`, and what `fields` adds.

    `owner`: the host's owner columns; `scope`: `{"type", "id"}` of who creates it.
    Raise NotAllowed for an unknown field.
    """
    conversation: C = tables.conversation(**_columns(values or {}, fields), **(owner or {}))
    if scope is not None:
        conversation.scope = dict(scope)
    session.add(conversation)
    session.flush()
    return conversation


def get_conversation(
    session: Session, tables: Tables[C, S, M], whose: Whose, conversation_id: UUID
) -> C:
    """Return the conversation. Raise NotFound if there is none, or if it is another's."""
    return _find(session, tables, whose, conversation_id, lock=False)


def lock_conversation(
    session: Session, tables: Tables[C, S, M], whose: Whose, conversation_id: UUID
) -> C:
    """Return the conversation, locked for the rest of the transaction, and note that it is used.

    Raise NotFound as `get_conversation` does. SQLite has no row locks: the change locks the file.
    """
    own = tables.conversation
    used = update(own).where(own.id == conversation_id, whose).values(updated_at=_now())
    if session.execute(used.execution_options(synchronize_session=False)).rowcount == 0:  # type: ignore[attr-defined]
        raise NotFound
    return _find(session, tables, whose, conversation_id, lock=True)


def update_conversation(
    session: Session,
    tables: Tables[C, S, M],
    whose: Whose,
    conversation_id: UUID,
    changes: Mapping[str, Any],
    *,
    version: int | None = None,
    fields: Collection[str] = CHANGEABLE,
) -> C:
    """Change known fields and return the conversation with its next version.

    `version`: the one that was read; None changes whatever is there.
    Raise NotFound, NotAllowed for an unknown field, StaleVersion if another change came first.
    """
    columns = _columns(changes, fields)
    conversation = lock_conversation(session, tables, whose, conversation_id)
    if version is not None and conversation.version != version:
        raise StaleVersion
    for name, value in columns.items():
        setattr(conversation, name, value)
    conversation.version += 1
    session.flush()
    return conversation


def delete_conversation(
    session: Session, tables: Tables[C, S, M], whose: Whose, conversation_id: UUID
) -> None:
    """Delete the conversation with its state and messages. Raise NotFound if there is none."""
    lock_conversation(session, tables, whose, conversation_id)
    _delete(session, tables, [conversation_id])


def delete_older_than(
    session: Session, tables: Tables[C, S, M], whose: Whose, days: int = 30
) -> int:
    """Delete conversations that were not used for so many days; return how many these were."""
    if days < 0:
        raise NotAllowed("The number of days cannot be negative.")
    own = tables.conversation
    cutoff = _now() - timedelta(days=days)
    unused = select(own.id).where(whose, own.updated_at < cutoff).with_for_update(skip_locked=True)
    found = list(session.scalars(unused))
    _delete(session, tables, found)
    return len(found)


def list_conversations(
    session: Session,
    tables: Tables[C, S, M],
    whose: Whose,
    *,
    order_by: str = "-updated_at",
    limit: int = 20,
    after: C | None = None,
) -> Sequence[C]:
    """Return conversations without their states and messages, a page at a time.

    `order_by`: one of ORDERS, descending with a leading `-`; `after`: the last one of the page
    before. Raise NotAllowed for another order or limit.
    """
    name = order_by.removeprefix("-")
    if name not in ORDERS or not 1 <= limit <= MOST_LISTED:
        known = ", ".join(ORDERS)
        raise NotAllowed(f"Order by {known} (or -{ORDERS[0]} …), at most {MOST_LISTED} at once.")
    own, is_descending = tables.conversation, order_by.startswith("-")
    key, number = getattr(own, name), own.id
    query = select(own).where(whose).limit(limit)
    if after is not None:
        place = tuple_(getattr(after, name), after.id)
        query = query.where(
            tuple_(key, number) < place if is_descending else tuple_(key, number) > place
        )
    order = (key.desc(), number.desc()) if is_descending else (key, number)
    return session.scalars(query.order_by(*order)).all()


def _find(
    session: Session, tables: Tables[C, S, M], whose: Whose, conversation_id: UUID, *, lock: bool
) -> C:
    own = tables.conversation
    query = select(own).where(own.id == conversation_id, whose)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    found: C | None = session.scalars(query).one_or_none()
    if found is None:
        raise NotFound
    return found


def _delete(session: Session, tables: Tables[C, S, M], ids: Sequence[UUID]) -> None:
    """Delete the rows, children first: SQLite checks no foreign keys unless it is told to."""
    for child in (tables.display_message, tables.agent_state):
        session.execute(delete(child).where(child.conversation_id.in_(ids)))
    session.execute(delete(tables.conversation).where(tables.conversation.id.in_(ids)))


def _columns(values: Mapping[str, Any], fields: Collection[str]) -> dict[str, Any]:
    if unknown := sorted(set(values) - set(fields)):
        raise NotAllowed(f"Unknown: {', '.join(unknown)}. Known: {', '.join(fields)}.")
    return {("metadata_" if name == "metadata" else name): value for name, value in values.items()}


def _now() -> datetime:
    return datetime.now(UTC)
