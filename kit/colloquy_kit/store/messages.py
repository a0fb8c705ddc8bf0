"""Display messages: what people see, rows that are only added.

The order is `inserted_at`, then `sequence`: all rows of one message have one moment, and no two
messages of a conversation have the same one, however many writers there are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4, uuid5

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from sqlalchemy import delete, func, select, tuple_
from sqlalchemy.orm import Session

from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.display import (
    Draft,
    assistant_drafts,
    call_status,
    text_of,
    tool_draft,
)
from colloquy_kit.messages.kinds import (
    OPEN_STATUSES,
    ContentType,
    MessageStatus,
    MessageType,
    moves_forward,
)
from colloquy_kit.messages.state import STOPPED, dump_message, is_summary
from colloquy_kit.store.conversations import Whose, get_conversation, lock_conversation
from colloquy_kit.store.errors import NotAllowed, NotFound
from colloquy_kit.store.tables import C, M, S, Tables

MOST_LOADED = 1000


def append_display_message(
    session: Session,
    tables: Tables[C, S, M],
    whose: Whose,
    conversation_id: UUID,
    message_type: str,
    content_type: str,
    content: Mapping[str, Any],
    *,
    status: str = "completed",
    metadata: Mapping[str, Any] | None = None,
) -> M:
    """Append one row and return it. Raise NotFound; ValueError for an unknown kind or status."""
    draft = Draft(
        MessageType(message_type),
        ContentType(content_type),
        dict(content),
        status=MessageStatus(status),
        metadata=dict(metadata or {}),
    )
    return append_display_messages(session, tables, whose, conversation_id, [draft])[0]


def append_display_messages(
    session: Session,
    tables: Tables[C, S, M],
    whose: Whose,
    conversation_id: UUID,
    drafts: Sequence[Draft],
) -> Sequence[M]:
    """Append the rows of one message, in order, and return them. Raise NotFound."""
    lock_conversation(session, tables, whose, conversation_id)
    own = tables.display_message
    latest = session.scalar(
        select(func.max(own.inserted_at)).where(own.conversation_id == conversation_id)
    )
    now = datetime.now(UTC)
    if latest is not None:  # SQLite forgets the time zone; the clocks of two servers differ
        now = max(now, latest.replace(tzinfo=latest.tzinfo or UTC) + timedelta(microseconds=1))
    rows = [
        own(
            id=draft.id or uuid4(),
            conversation_id=conversation_id,
            message_type=draft.message_type.value,
            content_type=draft.content_type.value,
            content=clean(draft.content),
            sequence=sequence,
            status=draft.status.value,
            metadata_=clean({**draft.metadata, **({"agent": draft.agent} if draft.agent else {})}),
            inserted_at=now,
        )
        for sequence, draft in enumerate(drafts)
    ]
    session.add_all(rows)
    session.flush()
    return rows


def save_message(
    session: Session,
    tables: Tables[C, S, M],
    whose: Whose,
    conversation_id: UUID,
    message: BaseMessage,
) -> Sequence[M]:
    """Split a message into rows, append and return them; none if it was saved before.

    A result moves the status of its call, too. A message without an id is new each time. What a
    tool returns for the host beside its text (its artifact) is not stored. Raise NotFound.
    """
    drafts = drafts_of(message)
    if message.id:
        drafts = [
            replace(draft, id=uuid5(conversation_id, f"{message.id} {place}"))
            for place, draft in enumerate(drafts)
        ]
        lock_conversation(session, tables, whose, conversation_id)
        if drafts and session.get(tables.display_message, drafts[0].id) is not None:
            return []
    if isinstance(message, ToolMessage):
        _finish_call(session, tables, conversation_id, message)
    return append_display_messages(session, tables, whose, conversation_id, drafts)


def drafts_of(message: BaseMessage) -> list[Draft]:
    """Return the rows in which people see a message; none for one that only models read."""
    dumped = clean(dump_message(message))
    if is_summary(dumped):
        return []
    if isinstance(message, ToolMessage):
        rows = [tool_draft(dumped)]
    elif isinstance(message, AIMessage):
        is_stopped = message.response_metadata.get("finish_reason") == STOPPED
        status = MessageStatus.STOPPED if is_stopped else MessageStatus.COMPLETED
        rows = assistant_drafts(dumped, status, message.name)
    else:
        kind = MessageType.USER if message.type == "human" else MessageType.SYSTEM
        rows = [Draft(kind, ContentType.TEXT, {"text": text_of(dumped)})]
    about: dict[str, Any] = {"message_id": message.id} if message.id else {}
    if isinstance(message, AIMessage) and message.usage_metadata:
        rows[0] = replace(rows[0], metadata=rows[0].metadata | {"usage": dumped["usage_metadata"]})
    return [replace(row, metadata={**row.metadata, **about}) for row in rows]


def change_status(
    session: Session,
    tables: Tables[C, S, M],
    whose: Whose,
    message_id: UUID,
    status: str,
) -> M:
    """Move a row's status forward and return it; nothing else of a row ever changes.

    Raise NotFound, NotAllowed for a move back.
    """
    own = tables.display_message
    row = session.get(own, message_id, with_for_update=True, populate_existing=True)
    if row is None:
        raise NotFound("There is no such message, or it belongs to somebody else.")
    get_conversation(session, tables, whose, row.conversation_id)
    if status != row.status and not moves_forward(row.status, MessageStatus(status)):
        raise NotAllowed(f"A message that is {row.status} cannot become {status}.")
    row.status = status
    session.flush()
    return row


def load_display_messages(
    session: Session,
    tables: Tables[C, S, M],
    whose: Whose,
    conversation_id: UUID,
    *,
    limit: int | None = None,
    before: M | None = None,
) -> Sequence[M]:
    """Return the rows, oldest first; with a limit the latest ones, or those before a row.

    Raise NotFound, NotAllowed for a limit that is not between 1 and MOST_LOADED.
    """
    if limit is not None and not 1 <= limit <= MOST_LOADED:
        raise NotAllowed(f"Load between 1 and {MOST_LOADED} messages at once.")
    get_conversation(session, tables, whose, conversation_id)
    own = tables.display_message
    query = select(own).where(own.conversation_id == conversation_id)
    if before is not None:
        place = tuple_(before.inserted_at, before.sequence)
        query = query.where(tuple_(own.inserted_at, own.sequence) < place)
    latest = query.order_by(own.inserted_at.desc(), own.sequence.desc()).limit(limit)
    return session.scalars(latest).all()[::-1]


def clear_display_messages(
    session: Session, tables: Tables[C, S, M], whose: Whose, conversation_id: UUID
) -> int:
    """Delete the rows and return how many these were; the agent state stays. Raise NotFound."""
    lock_conversation(session, tables, whose, conversation_id)
    own = tables.display_message
    gone = session.execute(delete(own).where(own.conversation_id == conversation_id))
    return int(gone.rowcount)  # type: ignore[attr-defined]  # of a CursorResult


def _finish_call(
    session: Session, tables: Tables[C, S, M], conversation_id: UUID, result: ToolMessage
) -> None:
    """Move the latest open call with the result's id forward."""
    own = tables.display_message
    call = session.scalars(
        select(own)
        .where(own.conversation_id == conversation_id, own.content_type == "tool_call")
        .where(own.status.in_([status.value for status in OPEN_STATUSES]))
        .where(own.content["call_id"].as_string() == result.tool_call_id)
        .order_by(own.inserted_at.desc(), own.sequence.desc())
        .limit(1)
    ).first()
    if call is not None:
        call.status = call_status({"status": result.status}).value
