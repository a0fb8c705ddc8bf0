"""Writing agent states: one writer per version, a delta for each saved step.

Only `backend.conversations.views` uses this, so that neither view changes without the other.
"""

from collections.abc import Sequence
from typing import cast
from uuid import UUID

from sqlalchemy import Table, bindparam, func, insert, select, text, update
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.conversations.state.delta import diff_states
from backend.conversations.state.shown import pack_delta
from backend.conversations.state.store import (
    last_assigned_version,
    load_packed,
    newest_version,
    packed_at,
)
from backend.errors.conversations import corrupt_if_it_fails
from backend.errors.turns import LeaseLost
from backend.schemas.conversations.sessions import DisplayMessage
from backend.types import JSON
from db.models.conversations.agent_state import AgentStateDeltaRow, AgentStateRow

# What concerns the whole conversation is never reset to an earlier version.
NEVER_BACK = ("metadata",)
_BATCH = 500


def create_state(session: Session, conversation_id: UUID, state: JSON, version: int = 0) -> None:
    """Store a new conversation's first snapshot, at version 0 unless it was brought in."""
    session.execute(
        insert(AgentStateRow).values(
            conversation_id=conversation_id, state_data=state, version=version
        )
    )


def add_deltas(session: Session, conversation_id: UUID, deltas: Sequence[JSON]) -> None:
    """Store the deltas of a new conversation, as rows of `version`, `delta` and `calls`."""
    rows = [{"conversation_id": conversation_id, **delta} for delta in deltas]
    for first in range(0, len(rows), _BATCH):
        session.execute(_APPEND, rows[first : first + _BATCH])


def append_delta(
    session: Session,
    conversation_id: UUID,
    version: int,
    delta: JSON,
    shown: Sequence[DisplayMessage] = (),
    calls: Sequence[JSON] = (),
) -> int:
    """Append a step's delta to the state at `version`; return the new version.

    `shown` are the step's display messages, `calls` the records of what models were sent for it.
    Raise LeaseLost when another writer has already stored this version.
    """
    row = {
        "conversation_id": conversation_id,
        "version": version + 1,
        "delta": pack_delta(delta, shown),
        "calls": list(calls) or None,
    }
    try:
        session.execute(_APPEND, row)
    except IntegrityError as error:
        raise LeaseLost from error
    return version + 1


def append_to_latest(
    session: Session,
    conversation_id: UUID,
    delta: JSON,
    shown: Sequence[DisplayMessage] = (),
    calls: Sequence[JSON] = (),
) -> int:
    """Append a change to the newest state, whichever that is; return the new version.

    The caller holds the conversation.
    """
    change = {
        "held": conversation_id,
        "change": pack_delta(delta, shown),
        "requests": list(calls) or None,
    }
    return int(session.execute(_APPEND_TO_LATEST, change).scalar_one())


def add_calls(session: Session, conversation_id: UUID, calls: Sequence[JSON]) -> None:
    """Add records of what models were sent to those of the newest delta; change nothing else."""
    row = AgentStateDeltaRow
    newest = select(func.max(row.version)).where(row.conversation_id == conversation_id)
    before = func.coalesce(row.calls, text("'[]'::jsonb"))
    session.execute(
        update(row)
        .where(row.conversation_id == conversation_id, row.version == newest.scalar_subquery())
        .values(calls=before.op("||")(sql_cast(calls, JSONB)))
        .execution_options(synchronize_session=False)
    )


def restore_version(session: Session, conversation_id: UUID, version: int) -> int:
    """Reset the state to an earlier version by appending a delta; return the new version.

    The caller holds the conversation. Raise StateNotKept, CorruptState.
    """
    now = load_packed(session, conversation_id)
    then = packed_at(session, conversation_id, version)
    whole = {key: now.state[key] for key in NEVER_BACK if key in now.state}
    past = {key: value for key, value in then.items() if key not in NEVER_BACK}
    with corrupt_if_it_fails():
        delta = diff_states(now.state, {**past, **whole})
    return append_delta(session, conversation_id, now.version, delta)


def replace_state(session: Session, conversation_id: UUID, state: JSON) -> int:
    """Store this as the newest state, whatever was stored before; return its version.

    Used when a state is unreadable: newer versions start from this one.
    """
    whole = {"keep": 0, "append": state["messages"]}
    kept = {key: value for key, value in state.items() if key != "messages"}
    last = session.scalar(select(last_assigned_version(conversation_id))) or 0
    version = append_delta(session, conversation_id, last, {**whole, "set": kept})
    snapshot = postgres_insert(AgentStateRow).values(
        conversation_id=conversation_id, state_data=state, version=version
    )
    new = {"state_data": snapshot.excluded.state_data, "version": snapshot.excluded.version}
    session.execute(snapshot.on_conflict_do_update(index_elements=["conversation_id"], set_=new))
    return version


def compact(session: Session, conversation_id: UUID, version: int) -> None:
    """Make the state at `version` the snapshot; keep earlier deltas to restore past versions.

    Raise LeaseLost when the state is no longer at that version.
    """
    stored = load_packed(session, conversation_id)
    if stored.version != version:
        raise LeaseLost
    session.execute(
        update(AgentStateRow)
        .where(AgentStateRow.conversation_id == conversation_id)
        .values(state_data=stored.state, version=version)
    )


# Built once: each step and each message writes one of these.
_deltas = cast(Table, AgentStateDeltaRow.__table__)
_OR_NULL = JSONB(none_as_null=True)
_APPEND = insert(_deltas).values(calls=bindparam("calls", type_=_OR_NULL))
_APPEND_TO_LATEST = (
    insert(_deltas)
    .values(
        conversation_id=bindparam("held"),
        version=newest_version(bindparam("held")) + 1,
        delta=bindparam("change", type_=JSONB),
        calls=bindparam("requests", type_=_OR_NULL),
    )
    .returning(_deltas.c.version)
)
