"""Agent states in PostgreSQL: a JSONB snapshot, deltas after it, one writer by version."""

from dataclasses import dataclass
from functools import reduce
from typing import Any
from uuid import UUID

from sqlalchemy import delete, insert, select, text
from sqlalchemy.orm import Session

from backend.conversations.delta import apply_delta
from backend.errors import LeaseLost, SessionNotFound
from db.models.agent_state import AgentStateDeltaRow, AgentStateRow
from db.session import dump_json

JSON = dict[str, Any]

# Fold when the deltas outweigh the snapshot: each byte is then rewritten about once in its life,
# and a restore reads at most about twice the state.
FOLD_FROM_BYTES = 64_000
FOLD_RATIO = 1.0

_ADVANCE = text(
    "UPDATE agent_states SET version = version + 1, delta_bytes = delta_bytes + :bytes"
    " WHERE conversation_id = :conversation_id AND version = :version"
)
_APPEND = text(
    "INSERT INTO agent_state_deltas (conversation_id, version, delta)"
    " VALUES (:conversation_id, :version, CAST(:delta AS jsonb))"
)
_FOLD = text(
    "UPDATE agent_states SET state_data = CAST(:state AS jsonb), snapshot_version = version,"
    " snapshot_bytes = :bytes, delta_bytes = 0"
    " WHERE conversation_id = :conversation_id AND version = :version"
)


@dataclass(frozen=True)
class StoredState:
    """An agent state as it was read; `version` must still hold when it is written."""

    state: JSON
    version: int


def create_state(session: Session, conversation_id: UUID, state: JSON) -> None:
    """Store a new conversation's first state, at version 0."""
    session.execute(
        insert(AgentStateRow).values(
            conversation_id=conversation_id,
            state_data=state,
            snapshot_bytes=len(dump_json(state)),
        )
    )


def load_state(session: Session, conversation_id: UUID) -> StoredState:
    """Read the snapshot and the deltas after it.

    Raises SessionNotFound when the conversation has no state, that is: does not exist.
    """
    snapshot = session.execute(
        select(
            AgentStateRow.state_data, AgentStateRow.version, AgentStateRow.snapshot_version
        ).where(AgentStateRow.conversation_id == conversation_id)
    ).one_or_none()
    if snapshot is None:
        raise SessionNotFound
    deltas = session.scalars(
        select(AgentStateDeltaRow.delta)
        .where(AgentStateDeltaRow.conversation_id == conversation_id)
        .where(AgentStateDeltaRow.version > snapshot.snapshot_version)
        .where(AgentStateDeltaRow.version <= snapshot.version)
        .order_by(AgentStateDeltaRow.version)
    )
    return StoredState(reduce(apply_delta, deltas, snapshot.state_data), snapshot.version)


def append_delta(session: Session, conversation_id: UUID, version: int, delta: JSON) -> int:
    """Add what a step changed to the state at `version`; give the new version.

    Raises LeaseLost when somebody else has written meanwhile.
    """
    body = dump_json(delta)
    key = {"conversation_id": conversation_id, "version": version}
    advanced = session.execute(_ADVANCE, {**key, "bytes": len(body)})
    if advanced.rowcount != 1:  # type: ignore[attr-defined]  # an UPDATE's result is a CursorResult
        raise LeaseLost
    session.execute(_APPEND, {**key, "version": version + 1, "delta": body})
    return version + 1


def fold_if_worthwhile(session: Session, conversation_id: UUID, stored: StoredState) -> None:
    """Write the whole state as the new snapshot when its deltas have outgrown the old one."""
    sizes = session.execute(
        select(AgentStateRow.delta_bytes, AgentStateRow.snapshot_bytes).where(
            AgentStateRow.conversation_id == conversation_id
        )
    ).one_or_none()
    if sizes and sizes.delta_bytes > max(FOLD_FROM_BYTES, sizes.snapshot_bytes * FOLD_RATIO):
        fold(session, conversation_id, stored)


def fold(session: Session, conversation_id: UUID, stored: StoredState) -> None:
    """Write the whole state as the snapshot and drop the deltas before it.

    Raises LeaseLost when the state is no longer at the version that was read.
    """
    body = dump_json(stored.state)
    key = {"conversation_id": conversation_id, "version": stored.version}
    folded = session.execute(_FOLD, {**key, "state": body, "bytes": len(body)})
    if folded.rowcount != 1:  # type: ignore[attr-defined]  # an UPDATE's result is a CursorResult
        raise LeaseLost
    session.execute(
        delete(AgentStateDeltaRow)
        .where(AgentStateDeltaRow.conversation_id == conversation_id)
        .where(AgentStateDeltaRow.version <= stored.version)
    )
