"""The two views of a conversation, written together: the only module that adds to either.

What people see are rows of `display_messages`; what the model reads is a state with deltas. Both
change in the caller's transaction, so neither ever changes without the other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.orm import Session

from backend.conversations.copying import copy_history
from backend.conversations.display import CallMove
from backend.conversations.messages import list_all
from backend.conversations.paths import Path
from backend.conversations.rows import add_history, add_rows, move_call
from backend.conversations.rows import row_of as row_of
from backend.conversations.state import writer
from backend.conversations.state.sent import RequestRecords
from backend.conversations.state.sent_store import keep_contents
from backend.llm.events import ModelCall
from backend.schemas.conversations.sessions import DisplayMessage
from backend.types import JSON
from colloquy_kit.messages.display import Draft


@dataclass(frozen=True)
class Change:
    """What a transaction adds to a conversation.

    `drafts` become rows at its end, `moves` change the status of open tool calls, `delta` changes
    the agent state: from `version`, or if that is None from the newest, which locks the
    conversation. `requests` record what models were sent for it.
    """

    drafts: Sequence[Draft] = ()
    moves: Sequence[CallMove] = ()
    delta: JSON | None = None
    version: int | None = None
    requests: Sequence[JSON] = ()


@dataclass(frozen=True)
class Written:
    """What a change wrote: new rows, changed rows, and the state's version if that is new."""

    added: list[DisplayMessage] = field(default_factory=list)
    updated: list[DisplayMessage] = field(default_factory=list)
    version: int | None = None


def append(
    session: Session, conversation_id: UUID, turn_id: UUID | None, change: Change
) -> Written:
    """Write a change; return what it wrote.

    Raise SessionNotFound if the conversation is gone, LeaseLost if another writer has changed the
    state.
    """
    added = add_rows(session, conversation_id, turn_id, change.drafts)
    version = None
    if change.delta is not None or change.requests:
        version = _append_delta(session, conversation_id, change, added)
    moved = [move_call(session, conversation_id, move) for move in change.moves]
    return Written(added, [row for row in moved if row is not None], version)


def begin(session: Session, conversation_id: UUID, state: JSON) -> None:
    """Store the first state of a new, empty conversation."""
    writer.create_state(session, conversation_id, state)


@dataclass(frozen=True)
class History:
    """Both views of a conversation that came from elsewhere, complete, in their stored form.

    `rows` are display messages, `results` what they name, `deltas` make the state from the empty
    one; `snapshot` is the state at `version`.
    """

    rows: Sequence[JSON]
    results: Iterable[JSON]
    deltas: Sequence[JSON]
    snapshot: JSON
    version: int


def bring_in(session: Session, conversation_id: UUID, history: History) -> None:
    """Store the history of a new, empty conversation."""
    add_history(session, conversation_id, history.rows, history.results)
    writer.add_deltas(session, conversation_id, history.deltas)
    writer.create_state(session, conversation_id, history.snapshot, history.version)


def copy(session: Session, old_id: UUID, new_id: UUID, path: Path, state: JSON) -> None:
    """Copy the display messages of a path, and the state, into a new conversation."""
    copy_history(session, old_id, new_id, path)
    # Version 0 is the empty state, as everywhere: everything copied is one delta after it.
    kept = {key: value for key, value in state.items() if key != "messages"}
    delta = {"append": state["messages"], "set": kept}
    writer.append_delta(session, new_id, 0, delta, list_all(session, new_id))


def replace_state(session: Session, conversation_id: UUID, state: JSON) -> None:
    """Replace what the model reads, whether or not the old state is readable."""
    writer.replace_state(session, conversation_id, state)


def restore_version(session: Session, conversation_id: UUID, version: int) -> None:
    """Reset the state to an earlier version; the caller holds the conversation.

    Raise StateNotKept, CorruptState.
    """
    writer.restore_version(session, conversation_id, version)


def compact(session: Session, conversation_id: UUID, version: int) -> None:
    """Make the state at `version` the snapshot. Raise LeaseLost if it is at another."""
    writer.compact(session, conversation_id, version)


def record_outside_turn(
    session: Session, conversation_id: UUID, calls: Sequence[ModelCall]
) -> None:
    """Record model calls made outside a turn, such as for a title, with the newest step."""
    records = RequestRecords()
    for call in calls:
        records.add(call, [None] * len(call.messages), ())
    if records.calls:
        keep_contents(session, conversation_id, records.contents)
        writer.add_calls(session, conversation_id, records.calls)


def _append_delta(
    session: Session, conversation_id: UUID, change: Change, added: Sequence[DisplayMessage]
) -> int:
    delta = change.delta or {}
    if change.version is None:
        return writer.append_to_latest(session, conversation_id, delta, added, change.requests)
    return writer.append_delta(
        session, conversation_id, change.version, delta, added, change.requests
    )
