"""Agent states: what the model reads, one JSON document per conversation with a version."""

import logging
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from colloquy_kit.errors import CorruptState
from colloquy_kit.messages.state import STATE_VERSION, check_state, empty_state
from colloquy_kit.store.conversations import Whose, get_conversation, lock_conversation
from colloquy_kit.store.errors import NewerState, StaleVersion
from colloquy_kit.store.messages import append_display_message
from colloquy_kit.store.tables import C, M, S, Tables

IDENTITY = "agent_id"  # says whose state it is, which the row says already
UNREADABLE = (
    "What the agent remembered could not be read, so it began anew. The messages here are intact."
)
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LoadedState:
    """A state and its version, to be given when it is saved again.

    `found`: stored, not_found (it begins empty), or unreadable (it begins empty, too; a notice
    among the display messages says so and holds the unreadable state in its metadata).
    """

    state: dict[str, Any]
    version: int
    found: Literal["stored", "not_found", "unreadable"]


def load_agent_state(
    session: Session, tables: Tables[C, S, M], whose: Whose, conversation_id: UUID
) -> LoadedState:
    """Return the state, or an empty one. Raise NotFound, and NewerState of a newer kit."""
    get_conversation(session, tables, whose, conversation_id)
    row = _row(session, tables, conversation_id)
    if row is None:
        return LoadedState(empty_state(), 0, "not_found")
    try:
        return LoadedState(check_state(row.state_data), row.version, "stored")
    except (CorruptState, AttributeError, KeyError, TypeError):
        version = row.state_data.get("version") if isinstance(row.state_data, dict) else None
        if isinstance(version, int) and version > STATE_VERSION:
            raise NewerState from None
    return _begin_anew(session, tables, whose, conversation_id)


def save_agent_state(
    session: Session,
    tables: Tables[C, S, M],
    whose: Whose,
    conversation_id: UUID,
    state: dict[str, Any],
    *,
    version: int | None = None,
) -> int:
    """Save the state and return its new version.

    `version`: the one that was loaded, 0 if there was none; None replaces whatever is there.
    Raise NotFound, CorruptState for what is no state, StaleVersion if another was saved since.
    """
    state = check_state({key: value for key, value in state.items() if key != IDENTITY})
    lock_conversation(session, tables, whose, conversation_id)
    own = tables.agent_state
    stored = session.scalar(select(own.version).where(own.conversation_id == conversation_id))
    if version is not None and version != (stored or 0):
        raise StaleVersion(
            f"The agent state is at version {stored or 0}, not {version}: another process or"
            " request has saved it. Load it again; what was not saved is in neither view."
        )
    if stored is None:
        session.add(own(conversation_id=conversation_id, state_data=state, version=1))
        session.flush()
        return 1
    changed = update(own).where(own.conversation_id == conversation_id)
    session.execute(changed.values(state_data=state, version=stored + 1))
    return int(stored) + 1


def export_state(
    session: Session, tables: Tables[C, S, M], whose: Whose, conversation_id: UUID
) -> dict[str, Any]:
    """Return the stored state as it is, also one that cannot be read; empty if there is none."""
    get_conversation(session, tables, whose, conversation_id)
    row = _row(session, tables, conversation_id)
    return dict(row.state_data) if row else empty_state()


def _begin_anew(
    session: Session, tables: Tables[C, S, M], whose: Whose, conversation_id: UUID
) -> LoadedState:
    """Put the unreadable state into a notice, so that nothing overwrites the only copy."""
    logger.error("an agent state is unreadable", extra={"conversation_id": str(conversation_id)})
    lock_conversation(session, tables, whose, conversation_id)
    row = _row(session, tables, conversation_id)
    assert row is not None  # noqa: S101  # it was there, and the conversation is locked
    append_display_message(
        session,
        tables,
        whose,
        conversation_id,
        "system",
        "notice",
        {"text": UNREADABLE},
        metadata={"unreadable_state": row.state_data, "version": row.version},
    )
    row.state_data = empty_state()
    row.version += 1
    session.flush()
    return LoadedState(empty_state(), row.version, "unreadable")


def _row(session: Session, tables: Tables[C, S, M], conversation_id: UUID) -> S | None:
    own = tables.agent_state
    query = select(own).where(own.conversation_id == conversation_id)
    return session.scalars(query.execution_options(populate_existing=True)).one_or_none()
