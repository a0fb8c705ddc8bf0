"""Writing an agent state back that was read, and changed, by a person or their program."""

from dataclasses import replace
from uuid import UUID

import orjson
from sqlalchemy.orm import Session

from backend import audit
from backend.agents.given_state import check_given
from backend.auth.reach import OWN
from backend.auth.scope import Scope
from backend.conversations import display, views
from backend.conversations import service as conversations
from backend.conversations.state.delta import diff_states
from backend.conversations.state.store import load_packed, load_state
from backend.errors.conversations import SessionBusy, StateChanged, StateNotNamed
from backend.errors.plans import PlanDecides
from backend.events.stream import EventStream
from backend.schemas.events import MessageAdded
from backend.text import counted
from backend.turns.queries import context_in, latest_turn, list_unfinished
from backend.types import JSON
from colloquy_kit.messages.display import notice
from db.models.conversations.conversation import ConversationRow
from db.models.people.user import LOCAL
from db.session import Database

NOT_NOW = (
    "A turn of this session is not finished. Wait until it ends, or stop it, then read the state"
    " again and write it."
)
# What GET adds to a state that has none of it.
ABSENT: JSON = {"todos": [], "metadata": {}, "payload": {}, "interrupt": None}


def tag_of(version: int) -> str:
    """Return the entity tag of a state at this version."""
    return f'"{version}"'


def write_state(
    database: Database,
    events: EventStream,
    scope: Scope,
    session_id: UUID,
    given: JSON,
    tag: str | None,
) -> int:
    """Make this what the model reads next; return the state's version then.

    `tag`: the entity tag of the state that was read, which must still be the newest. A state that
    says the same is not written again. Display messages stay; one more says who did it.
    Raise StateNotNamed, InvalidInput, SessionNotFound, PlanDecides, SessionBusy, StateChanged,
    CorruptState.
    """
    given = check_given(given)
    with database.transaction() as session:
        conversation = conversations.lock(session, scope, session_id, OWN)
        if conversation.parent_id is not None:
            raise PlanDecides(conversation.parent_id)
        if tag is None:
            raise StateNotNamed
        if list_unfinished(session, session_id):
            raise SessionBusy(NOT_NOW)
        packed = load_packed(session, session_id)
        if tag != tag_of(packed.version):
            raise StateChanged
        whole = load_state(session, session_id).state
        delta = diff_states(packed.state, _as_stored(given, whole, packed.state))
        if not delta:
            return packed.version
        written = _write(session, scope, conversation, given, delta, packed.version)
        turn = latest_turn(session, session_id)
        context = context_in(conversation, turn) if turn else None
    if context:
        added = [MessageAdded(context=context, message=row) for row in written.added]
        events.publish(session_id, *added, position=written.added[-1].position)
    return packed.version + 1


def _write(
    session: Session,
    scope: Scope,
    conversation: ConversationRow,
    given: JSON,
    delta: JSON,
    version: int,
) -> views.Written:
    """Append the change, and the notice that says so; record it in the audit trail."""
    count = len(given["messages"])
    who = "" if scope.user_id == LOCAL else f" by {scope.name or scope.user_id}"
    words = f"What the agent remembers was replaced{who}: it reads {counted(count, 'message')} now."
    turn = latest_turn(session, conversation.id)
    said = replace(notice(words), metadata={display.STATE_WRITTEN: version + 1})
    change = views.Change(drafts=[said], delta=delta, version=version)
    written = views.append(session, conversation.id, turn.id if turn else None, change)
    details = {"owner": conversation.owner_id, "version": version + 1, "messages": count}
    audit.record(session, scope.user_id, "state_replaced", "session", conversation.id, details)
    return written


def _as_stored(given: JSON, whole: JSON, packed: JSON) -> JSON:
    """Return the given state with the stored form of those of its messages that did not change.

    Their texts stay references to display messages, and a difference is found by identity.
    """
    kept = {
        key: value
        for key, value in given.items()
        if key in whole or key not in ABSENT or value != ABSENT[key]
    }
    stored: dict[bytes, list[JSON]] = {}
    for message, in_store in zip(whole["messages"], packed["messages"], strict=True):
        stored.setdefault(_name(message), []).append(in_store)
    messages = [
        found.pop(0) if (found := stored.get(_name(message))) else message
        for message in given["messages"]
    ]
    return {**kept, "messages": messages}


def _name(message: JSON) -> bytes:
    return orjson.dumps(message, option=orjson.OPT_SORT_KEYS)
