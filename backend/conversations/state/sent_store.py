"""What models were sent, in PostgreSQL: contents stored once, records with their steps."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from sqlalchemy import cast, func, select, text, update
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.orm import Session

from backend.conversations.state.sent import RequestRecords
from backend.llm.events import ModelCall
from db.models.conversations.agent_state import AgentStateDeltaRow, SentContentRow


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


def record_outside_turn(
    session: Session, conversation_id: UUID, calls: Sequence[ModelCall]
) -> None:
    """Record calls made outside a turn, such as for a title, with the newest step."""
    records = RequestRecords()
    for call in calls:
        records.add(call, [None] * len(call.messages), ())
    if not records.calls:
        return
    keep_contents(session, conversation_id, records.contents)
    row = AgentStateDeltaRow
    newest = select(func.max(row.version)).where(row.conversation_id == conversation_id)
    before = func.coalesce(row.calls, text("'[]'::jsonb"))
    session.execute(
        update(row)
        .where(row.conversation_id == conversation_id, row.version == newest.scalar_subquery())
        .values(calls=before.op("||")(cast(records.calls, JSONB)))
        .execution_options(synchronize_session=False)
    )
