"""How a person's message enters a conversation: both views in one transaction."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import BindParameter, Insert, Row, Select, bindparam, func, insert, select, update
from sqlalchemy.orm import Session

from backend.agents.state import user_message
from backend.auth.scope import Scope
from backend.conversations.delta import diff_states
from backend.conversations.display import user_text
from backend.conversations.messages import add_messages, row_of, shown_as
from backend.conversations.service import clean_title, visible_to
from backend.conversations.shown import pack_delta
from backend.conversations.state_store import (
    append_delta,
    append_to_latest,
    load_state,
    newest_version,
)
from backend.errors import SessionNotFound
from backend.schemas.sessions import DisplayMessage
from backend.turns.lifecycle import UNFINISHED
from db.models.agent_state import AgentStateDeltaRow
from db.models.conversation import ConversationRow
from db.models.display_message import DisplayMessageRow
from db.models.turn import TurnRow

JSON = dict[str, Any]
TITLE_CHARS = 60


@dataclass(frozen=True)
class Entered:
    """A turn as it was stored, behind `before` others; `shown` is its message, if it is next."""

    turn: Row[Any]
    before: int
    shown: DisplayMessage | None


def hold_conversation(session: Session, scope: Scope, conversation_id: UUID) -> Row[Any]:
    """Hold a conversation of the caller and give what a new turn needs of it.

    Raises SessionNotFound.
    """
    held = session.execute(
        _HOLD.where(visible_to(scope)), {"conversation_id": conversation_id}
    ).one_or_none()
    if held is None:
        raise SessionNotFound
    return held


def enter_turn(session: Session, held: Row[Any], turn: JSON) -> Entered:
    """Store a new turn of a held conversation and, if it is next, its message in both views.

    Two statements: this path is taken by everybody, and each round trip counts.
    """
    place = session.execute(_LOOK, {"conversation_id": held.id}).one()
    turn = {**turn, "conversation_id": held.id, "created_at": place.now}
    changes = {"held_id": held.id, "title": held.title or title_of(turn["message"])}
    if place.before:
        waits = {"message_position": None, "state_version": None}
        values = _values(_TURNS, turn | waits) | changes
        stored = session.execute(_QUEUE, {**values, "message_count": held.message_count}).one()
        return Entered(stored, place.before, None)
    position = held.message_count + 1
    row = row_of(user_text(turn["message"]), held.id, turn["id"], position, place.now)
    shown = shown_as(row)
    said = user_message(turn["message"], str(uuid4()))
    delta = {
        "conversation_id": held.id,
        "version": place.version + 1,
        "delta": pack_delta({"append": [said]}, [shown]),
    }
    values = (
        _values(_TURNS, turn | {"message_position": position, "state_version": delta["version"]})
        | _values(_MESSAGES, {**row, "metadata": row["metadata_"]})
        | _values(_DELTAS, delta)
    )
    stored = session.execute(_ENTER, {**values, **changes, "message_count": position}).one()
    return Entered(stored, 0, shown)


def enter_message(session: Session, turn: TurnRow) -> DisplayMessage:
    """Add the message of a turn that had to wait to both views, now that it is next.

    The caller holds the conversation's lock, and writes the turn, which has its position now.
    Raises SessionNotFound when the conversation is gone.
    """
    (shown,) = add_messages(session, turn.conversation_id, turn.id, [user_text(turn.message)])
    said = user_message(turn.message, str(uuid4()))
    delta = {"append": [said]}
    turn.state_version = append_to_latest(session, turn.conversation_id, delta, [shown])
    turn.message_position = shown.position
    return shown


def reopen_answer(session: Session, conversation_id: UUID) -> None:
    """Let the agent answer again: an answer that broke off leaves what the model reads.

    People go on seeing it. The caller holds the conversation's lock.
    """
    stored = load_state(session, conversation_id)
    kept = list(stored.state["messages"])
    while kept and kept[-1]["role"] == "assistant" and not kept[-1].get("tool_calls"):
        kept.pop()
    if delta := diff_states(stored.state, {**stored.state, "messages": kept}):
        append_delta(session, conversation_id, stored.version, delta)


def touch(session: Session, conversation: ConversationRow, message: str) -> None:
    """Bring the conversation to the top of the list, and name it if it has no name."""
    values = {"held_id": conversation.id, "message_count": conversation.message_count}
    title = conversation.title or title_of(message)
    session.execute(_TOUCH, {**values, "title": title})


def title_of(message: str) -> str:
    """A title from the first line of a message, cut at a word."""
    line = clean_title(message.strip().split("\n", 1)[0])
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS].rsplit(" ", 1)[0]
    return f"{cut}…"


_TURNS: Any = TurnRow.__table__
_MESSAGES: Any = DisplayMessageRow.__table__
_DELTAS: Any = AgentStateDeltaRow.__table__
_CONVERSATIONS: Any = ConversationRow.__table__


def _insert(table: Any, *names: str) -> Insert:
    """An insert of these columns, whose values are given by `_values`."""
    columns = {name: bindparam(f"{table.name}.{name}", type_=table.c[name].type) for name in names}
    return insert(table).values(columns)


def _values(table: Any, row: JSON) -> JSON:
    return {f"{table.name}.{name}": value for name, value in row.items()}


_HOLD: Select[Any] = (
    select(
        *(_CONVERSATIONS.c[name] for name in ("id", "domain_id", "image_id", "title")),
        _CONVERSATIONS.c.message_count,
        func.jsonb_path_query_array(_CONVERSATIONS.c.image, "$.agents[*].name").label("agents"),
    )
    .where(_CONVERSATIONS.c.id == bindparam("conversation_id"))
    .with_for_update(key_share=True)
)
_OF_HELD: BindParameter[Any] = bindparam("conversation_id")
# Not part of _HOLD: a statement that has waited for a lock sees the other rows as they were before.
_LOOK = select(
    select(func.count())
    .where(_TURNS.c.conversation_id == _OF_HELD, _TURNS.c.status.in_(UNFINISHED))
    .scalar_subquery()
    .label("before"),
    newest_version(_OF_HELD).label("version"),
    func.clock_timestamp().label("now"),
)
_TOUCH = (
    update(_CONVERSATIONS)
    .where(_CONVERSATIONS.c.id == bindparam("held_id"))
    .values(
        title=bindparam("title"),
        message_count=bindparam("message_count"),
        archived=False,
        updated_at=func.clock_timestamp(),
    )
)
_QUEUE = (
    _insert(
        _TURNS,
        "id",
        "conversation_id",
        "owner_id",
        "agent",
        "message",
        "idempotency_key",
        "body_hash",
        "created_at",
        "message_position",
        "state_version",
    )
    .add_cte(_TOUCH.cte("touched"))
    .returning(*_TURNS.c)
)
_ENTER = _QUEUE.add_cte(
    _insert(_MESSAGES, *(column.name for column in _MESSAGES.c)).cte("shown"),
    _insert(_DELTAS, "conversation_id", "version", "delta").cte("said"),
)
