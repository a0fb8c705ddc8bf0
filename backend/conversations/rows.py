"""Writing display messages: rows are appended, and open calls change their status.

Only `backend.conversations.views` uses this, so that neither view changes without the other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast
from uuid import UUID, uuid4

from sqlalchemy import Integer, Table, bindparam, func, insert, update
from sqlalchemy.orm import Session

from backend.conversations.display import CallMove, ResultDraft
from backend.conversations.messages import columns_of, shown_as
from backend.errors.conversations import SessionNotFound
from backend.schemas.conversations.sessions import DisplayMessage
from backend.types import JSON
from colloquy_kit.messages.display import Draft
from colloquy_kit.messages.kinds import OPEN_STATUSES
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import DisplayMessageRow, ToolResultRow


def add_rows(
    session: Session, conversation_id: UUID, turn_id: UUID | None, drafts: Sequence[Draft]
) -> list[DisplayMessage]:
    """Store the drafts at the next positions and return their rows.

    This locks the conversation, so that positions have no gap. Raise SessionNotFound when it is
    gone.
    """
    if not drafts:
        return []
    counted = session.execute(
        _COUNT, {"conversation": conversation_id, "added": len(drafts)}
    ).one_or_none()
    if counted is None:
        raise SessionNotFound
    first = counted.message_count - len(drafts) + 1
    stored = [_with_result(session, conversation_id, draft) for draft in drafts]
    rows = [
        row_of(draft, conversation_id, turn_id, first + offset, counted.now)
        for offset, draft in enumerate(stored)
    ]
    session.execute(_INSERT, rows)
    return [shown_as(row) for row in rows]


def row_of(
    draft: Draft, conversation_id: UUID, turn_id: UUID | None, position: int, now: datetime
) -> JSON:
    """Return the draft as a row at this position."""
    return {
        "id": draft.id or uuid4(),
        "conversation_id": conversation_id,
        "turn_id": turn_id,
        "position": position,
        "message_type": draft.message_type,
        "content_type": draft.content_type,
        "content": draft.content,
        "sequence": draft.sequence,
        "status": draft.status,
        "agent": draft.agent,
        "created_at": now,
        "metadata": draft.metadata,
    }


def add_history(
    session: Session, conversation_id: UUID, rows: Sequence[JSON], results: Iterable[JSON]
) -> None:
    """Store the whole history of a new conversation: complete rows, and the results they name."""
    for result in results:  # one by one, because each may be large
        session.execute(_INSERT_RESULT, {"conversation_id": conversation_id, **result})
    for first in range(0, len(rows), _BATCH):
        session.execute(_INSERT, rows[first : first + _BATCH])
    session.execute(
        update(ConversationRow)
        .where(ConversationRow.id == conversation_id)
        .values(message_count=len(rows))
        .execution_options(synchronize_session=False)
    )


def move_call(session: Session, conversation_id: UUID, move: CallMove) -> DisplayMessage | None:
    """Update an open tool call; return None when it was no longer open."""
    row = session.execute(
        update(DisplayMessageRow)
        .where(DisplayMessageRow.conversation_id == conversation_id)
        .where(DisplayMessageRow.position == move.position)
        .where(DisplayMessageRow.status.in_(OPEN_STATUSES))
        .values(status=move.status, metadata_=DisplayMessageRow.metadata_.op("||")(move.metadata))
        .returning(DisplayMessageRow)
    ).scalar_one_or_none()
    return shown_as(columns_of(row)) if row else None


def _with_result(session: Session, conversation_id: UUID, draft: Draft) -> Draft:
    """Return the draft; a table or file too large for the row is stored apart and referenced."""
    if not isinstance(draft, ResultDraft) or draft.result is None:
        return draft
    result_id = uuid4()
    session.execute(
        insert(ToolResultRow).values(
            id=result_id, conversation_id=conversation_id, result=draft.result
        )
    )
    named: JSON = {"result_id": str(result_id)}
    if "table" in draft.metadata:
        named = {"table": {**draft.metadata["table"], **named}}
    return replace(draft, metadata={**draft.metadata, **named})


# The table, not its class: the ORM would read back values that are known.
_INSERT = insert(cast(Table, DisplayMessageRow.__table__))
_INSERT_RESULT = insert(cast(Table, ToolResultRow.__table__))
_BATCH = 500
_COUNT = (
    update(ConversationRow)
    .where(ConversationRow.id == bindparam("conversation"))
    .values(message_count=ConversationRow.message_count + bindparam("added", type_=Integer))
    .returning(ConversationRow.message_count, func.clock_timestamp().label("now"))
    .execution_options(synchronize_session=False)
)
