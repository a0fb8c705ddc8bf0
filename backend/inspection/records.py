"""Reading a conversation's past: turns, changes of its state, rows without content."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import false, func, or_, select, text
from sqlalchemy.orm import Session

from backend.inspection.pairing import Row
from backend.inspection.timeline import Change, TurnStart
from backend.types import JSON
from colloquy_kit.messages.kinds import ContentType, MessageType
from db.models.conversations.agent_state import AgentStateDeltaRow
from db.models.conversations.display_message import DisplayMessageRow
from db.models.turns.turn import TurnRow

MADE_BY_AGENTS = ("assistant", "tool")


def list_turns(session: Session, conversation_id: UUID) -> list[TurnStart]:
    """Return all turns, in the order in which they were submitted."""
    row = TurnRow
    found = session.execute(
        select(row.id, row.agent, row.state_version, row.started_at)
        .where(row.conversation_id == conversation_id)
        .order_by(row.number)
    )
    return [
        TurnStart(turn_id, number, agent, version, started_at)
        for number, (turn_id, agent, version, started_at) in enumerate(found, 1)
    ]


def list_changes(session: Session, conversation_id: UUID, first: int = 1) -> list[Change]:
    """Return the changes from a version on, without message content, in one query.

    A delta with messages that have no id is left out: they cannot be tracked.
    """
    changes = []
    rows = session.execute(_CHANGES, {"conversation": conversation_id, "first": first})
    for version, prepended, drop, keep, appended, count, role, summaries in rows:
        if count != len(prepended) + len(appended):
            continue
        changes.append(
            Change(
                version=version,
                prepended=[str(name) for name in prepended],
                drop=drop if isinstance(drop, int) else 0,
                keep=keep if isinstance(keep, int) else None,
                appended=[str(name) for name in appended],
                is_step=role in MADE_BY_AGENTS,
                summaries=[str(name) for name in summaries],
            )
        )
    return changes


def list_made(
    session: Session, conversation_id: UUID, ranges: Sequence[tuple[int, int | None]]
) -> dict[str, JSON]:
    """Return the stored messages in the deltas of these version ranges, by id.

    A range ends before its second version; None means it is open.
    """
    row = AgentStateDeltaRow
    wanted = [
        row.version >= first if end is None else row.version.between(first, end - 1)
        for first, end in ranges
    ]
    query = select(row.delta).where(row.conversation_id == conversation_id, or_(false(), *wanted))
    messages: dict[str, JSON] = {}
    for delta in session.scalars(query.order_by(row.version)):
        for message in (*delta.get("prepend", ()), *delta.get("append", ())):
            messages.setdefault(str(message.get("id")), message)
    return messages


def list_rows(
    session: Session, conversation_id: UUID, turn_ids: Sequence[UUID]
) -> dict[UUID, list[Row]]:
    """Return these turns' rows without content, in order, by turn."""
    row = DisplayMessageRow
    call_id = func.coalesce(row.content["call_id"].astext, row.content["tool_call_id"].astext)
    first = (
        select(func.min(TurnRow.message_position)).where(TurnRow.id.in_(turn_ids)).scalar_subquery()
    )
    found = session.execute(
        select(row.turn_id, row.position, row.message_type, row.content_type, row.sequence, call_id)
        .where(row.conversation_id == conversation_id)
        .where(row.position >= func.coalesce(first, 1), row.turn_id.in_(turn_ids))
        .order_by(row.position)
    )
    rows: dict[UUID, list[Row]] = {turn_id: [] for turn_id in turn_ids}
    for turn_id, position, who, kind, sequence, call in found.tuples():
        frame = Row(position, MessageType(who), ContentType(kind), sequence, call)
        rows[turn_id].append(frame)
    return rows


_CHANGES = text(
    """
    SELECT version,
        jsonb_path_query_array(delta, '$.prepend[*].id'),
        delta->'drop',
        delta->'keep',
        jsonb_path_query_array(delta, '$.append[*].id'),
        jsonb_array_length(jsonb_path_query_array(delta, '$.prepend[*].role'))
            + jsonb_array_length(jsonb_path_query_array(delta, '$.append[*].role')),
        delta #>> '{append,-1,role}',
        jsonb_path_query_array(
            delta, '$.*[*] ? (@.additional_kwargs.lc_source == "summarization").id')
    FROM agent_state_deltas
    WHERE conversation_id = :conversation AND version >= :first
    ORDER BY version
    """
)
