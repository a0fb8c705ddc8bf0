"""Reading agent states from PostgreSQL: a JSONB snapshot, and a delta for each saved step.

A text that people see is stored only in its display message (see `shown`), so that saving a step
costs little more than its own text.
"""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    bindparam,
    func,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from backend.conversations.state.delta import apply_deltas
from backend.conversations.state.shown import positions_in, unpack
from backend.errors.conversations import (
    CorruptState,
    SessionNotFound,
    StateNotKept,
    corrupt_if_it_fails,
)
from backend.types import JSON
from db.models.conversations.agent_state import AgentStateDeltaRow, AgentStateRow
from db.models.conversations.branch import BranchRow
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import DisplayMessageRow
from db.models.turns.turn import TurnRow

# Compacting rewrites all messages; once in this many steps, that adds a few bytes to each.
COMPACT_FROM_DELTAS = 300

# What the deltas are applied to from the beginning: the empty state in format version 1.
BEGINNING: JSON = {"version": 1, "messages": []}

# Positions close to each other are read as one range.
SPARSE = 2

# By a turn: its message, and a version for each step.
_WRITTEN = TurnRow.state_version + TurnRow.steps


@dataclass(frozen=True)
class StoredState:
    """An agent state as read; `version` must still be current when it is written.

    `snapshot_version` is the snapshot's version, `snapshot_messages` its number of messages.
    """

    state: JSON
    version: int
    snapshot_version: int = 0
    snapshot_messages: int = 0

    @property
    def should_compact(self) -> bool:
        """Return whether enough deltas follow the snapshot for compacting to be worthwhile."""
        deltas = self.version - self.snapshot_version
        return deltas > max(COMPACT_FROM_DELTAS, self.snapshot_messages)

    def followed_by(self, state: JSON, version: int) -> "StoredState":
        """Return what is stored after a delta has changed it to `state`."""
        return replace(self, state=state, version=version)


def load_state(session: Session, conversation_id: UUID) -> StoredState:
    """Load the snapshot, the deltas after it, and the texts that they refer to.

    Raise SessionNotFound when the conversation does not exist; CorruptState when the stored data
    is missing, entirely or in part, or does not make a state.
    """
    stored = load_packed(session, conversation_id)
    return replace(stored, state=_with_texts(session, conversation_id, stored.state))


def load_state_at(session: Session, conversation_id: UUID, version: int) -> JSON:
    """Return the state as it was at an earlier version.

    Reads what was saved after the snapshot, or from the beginning if the snapshot is newer. Raise
    StateNotKept if deltas of that time are missing.
    """
    return _with_texts(session, conversation_id, packed_at(session, conversation_id, version))


def newest_version(conversation_id: UUID | BindParameter[Any]) -> ColumnElement[int]:
    """Return the version of the newest state, as part of a statement.

    If the state or its end is missing, the newest that is known of: none is assigned twice.
    """
    deltas, snapshots = AgentStateDeltaRow, AgentStateRow
    newest = select(func.max(deltas.version)).where(deltas.conversation_id == conversation_id)
    snapshot = select(snapshots.version).where(snapshots.conversation_id == conversation_id)
    named = _named_version(conversation_id)
    kept = func.coalesce(newest.scalar_subquery(), snapshot.scalar_subquery(), named)
    return func.greatest(kept, _written_version(conversation_id))


def last_assigned_version(conversation_id: UUID) -> ColumnElement[int]:
    """Return the newest version that ever was, also if the end of the state is missing.

    Reads all turns of the conversation.
    """
    return func.greatest(newest_version(conversation_id), _named_version(conversation_id))


def _named_version(conversation_id: UUID | BindParameter[Any]) -> ColumnElement[int]:
    named = [
        select(func.max(version)).where(row.conversation_id == conversation_id)
        for row, version in ((TurnRow, _WRITTEN), (BranchRow, BranchRow.state_version))
    ]
    return func.greatest(*(one.scalar_subquery() for one in named), 0)


def _written_version(conversation_id: Any) -> ColumnElement[int | None]:
    """Return the newest version that the latest turn is known to have written."""
    turn = TurnRow
    return (
        select(_WRITTEN)
        .where(turn.conversation_id == conversation_id, turn.state_version.is_not(None))
        .order_by(turn.number.desc())
        .limit(1)
        .scalar_subquery()
    )


def load_packed(session: Session, conversation_id: UUID) -> StoredState:
    """Return the state in its stored form, whose messages refer to their texts."""
    row = session.execute(_LOAD, {"conversation_id": conversation_id}).one_or_none()
    if row is None:
        raise CorruptState if session.get(ConversationRow, conversation_id) else SessionNotFound
    snapshot, version, deltas, newest, written = row
    if newest != version + len(deltas) or newest < written:
        raise CorruptState
    with corrupt_if_it_fails():
        return StoredState(
            state=apply_deltas(snapshot, deltas),
            version=version + len(deltas),
            snapshot_version=version,
            snapshot_messages=len(snapshot["messages"]),
        )


def packed_at(session: Session, conversation_id: UUID, version: int) -> JSON:
    """Return the stored form of the state at a version. Raise StateNotKept, CorruptState."""
    deltas, snapshots = AgentStateDeltaRow, AgentStateRow
    snapshot = session.execute(
        select(snapshots.state_data, snapshots.version).where(
            snapshots.conversation_id == conversation_id, snapshots.version <= version
        )
    ).one_or_none()
    begin, known = snapshot or (BEGINNING, 0)
    after = session.scalars(
        select(deltas.delta)
        .where(deltas.conversation_id == conversation_id)
        .where(deltas.version > known, deltas.version <= version)
        .order_by(deltas.version)
    ).all()
    if len(after) != version - known:
        raise StateNotKept
    with corrupt_if_it_fails():
        return apply_deltas(begin, after)


def _with_texts(session: Session, conversation_id: UUID, state: JSON) -> JSON:
    """Return the state with the texts that its messages refer to."""
    with corrupt_if_it_fails():
        positions = positions_in(state["messages"])
    texts = _texts_at(session, conversation_id, positions)
    with corrupt_if_it_fails():
        return {**state, "messages": unpack(state["messages"], texts)}


def _texts_at(session: Session, conversation_id: UUID, positions: list[int]) -> dict[int, str]:
    """Return the texts of the display messages at these positions."""
    if not positions:
        return {}
    row = DisplayMessageRow
    is_range = positions[-1] - positions[0] < SPARSE * len(positions)
    wanted = (
        row.position.between(positions[0], positions[-1])
        if is_range
        else row.position == func.any(positions)
    )
    words = func.coalesce(row.content["text"].astext, row.content["content"].astext)
    rows = session.execute(
        select(row.position, words).where(row.conversation_id == conversation_id, wanted)
    )
    return {position: content for position, content in rows}


_NEWER = select(
    func.jsonb_agg(aggregate_order_by(AgentStateDeltaRow.delta, AgentStateDeltaRow.version))
).where(
    AgentStateDeltaRow.conversation_id == AgentStateRow.conversation_id,
    AgentStateDeltaRow.version > AgentStateRow.version,
)
_NEWEST = select(func.max(AgentStateDeltaRow.version)).where(
    AgentStateDeltaRow.conversation_id == AgentStateRow.conversation_id,
    AgentStateDeltaRow.version > AgentStateRow.version,
)
_LOAD = select(
    AgentStateRow.state_data,
    AgentStateRow.version,
    func.coalesce(_NEWER.correlate(AgentStateRow).scalar_subquery(), text("'[]'::jsonb")),
    func.coalesce(_NEWEST.correlate(AgentStateRow).scalar_subquery(), AgentStateRow.version),
    func.coalesce(_written_version(AgentStateRow.conversation_id), 0),
).where(AgentStateRow.conversation_id == bindparam("conversation_id"))
