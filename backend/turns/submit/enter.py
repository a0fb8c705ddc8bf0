"""Entering a turn into a conversation: one way for new, edited, repeated and waiting messages.

Its agent has already been chosen.
"""

from dataclasses import dataclass
from uuid import UUID, uuid4

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from backend.conversations import views
from backend.conversations.paths import Path
from backend.conversations.reviews import record_act
from backend.conversations.service import clean_title
from backend.conversations.state.delta import diff_states
from backend.conversations.state.store import load_state
from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.conversations.turns import Route
from backend.telemetry.origins import origin
from backend.turns.process.announcer import Accepted
from backend.turns.queries import context_in, count_unfinished, wire_turn
from backend.types import JSON
from colloquy_kit.messages.display import user_text
from colloquy_kit.messages.kinds import MessageType
from colloquy_kit.messages.state import user_message
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import DisplayMessageRow
from db.models.people.user import LOCAL, UserRow
from db.models.turns.turn import TurnRow

TITLE_CHARS = 60


@dataclass(frozen=True)
class NewTurn:
    """A turn requested by a person's message.

    `fork_of` is the first turn of which this one is another version. `resumes` is an earlier turn
    with the same message, from whose end this one continues. `model` is the model chosen for it,
    None for the default; `route` is why it goes to the agent, where its domain has a manager;
    `role` is the role of the person who asks.
    """

    owner_id: str
    agent: str
    message: str
    route: Route | None = None
    role: str | None = None
    model: str | None = None
    key: str | None = None
    body_hash: str | None = None
    fork_of: UUID | None = None
    resumes: TurnRow | None = None


def enter(session: Session, conversation: ConversationRow, new: NewTurn) -> Accepted:
    """Store a new turn and, if it is next, its message in both views.

    The caller holds the conversation. Raise CorruptState where a resumed turn's state is damaged.
    """
    turn = TurnRow(
        id=uuid4(),
        conversation_id=conversation.id,
        owner_id=new.owner_id,
        agent=new.agent,
        model=new.model,
        route=new.route.model_dump(mode="json") if new.route else None,
        role=new.role,
        message=new.message,
        idempotency_key=new.key,
        body_hash=new.body_hash,
        fork_of=new.fork_of,
        request=origin(),
    )
    before = count_unfinished(session, conversation.id)
    shown = None
    if new.resumes and new.resumes.message_position is not None:
        _resume(session, turn, new.resumes)
    elif not before:
        turn.fork_of = turn.fork_of or _first_of_all(session, conversation)
        shown = show_message(session, turn)
    session.add(turn)
    session.flush()
    _bring_to_top(session, conversation, turn.message)
    action = "resumed" if new.resumes else "branched" if new.fork_of else "asked"
    details = {"turn_id": str(turn.id)}
    record_act(session, new.owner_id, conversation.owner_id, conversation.id, action, details)
    context = context_in(conversation, turn)
    return Accepted(wire_turn(turn, before), context, shown, is_next=not before)


def _first_of_all(session: Session, conversation: ConversationRow) -> UUID | None:
    """Return the turn of the conversation's first message if its branch was cleared.

    The first message there is another version of that one, so that people get from one to another.
    """
    path = conversation.path
    if path is None or not Path.read(path).is_empty(conversation.message_count):
        return None
    row = DisplayMessageRow
    return session.scalar(
        select(row.turn_id)
        .where(row.conversation_id == conversation.id, row.message_type == MessageType.USER)
        .where(row.turn_id.is_not(None))
        .order_by(row.position)
        .limit(1)
    )


def show_message(session: Session, turn: TurnRow) -> DisplayMessage:
    """Add the message of a turn that is next to both views; the turn records its places.

    The caller holds the conversation, and writes the turn. Raise SessionNotFound when the
    conversation is gone.
    """
    message = user_message(turn.message, str(uuid4()))
    shown_text = user_text(turn.message, _author(session, turn.owner_id))
    change = views.Change(drafts=[shown_text], delta={"append": [message]})
    written = views.append(session, turn.conversation_id, turn.id, change)
    (shown,) = written.added
    turn.message_position, turn.state_version = shown.position, written.version
    return shown


def _author(session: Session, user_id: str) -> JSON | None:
    """Return who writes, as the history names them for good; nobody where nobody signs in."""
    person = session.get(UserRow, user_id) if user_id != LOCAL else None
    return {"id": person.id, "name": person.name} if person else None


def title_of(message: str) -> str:
    """Return a title from the first line of a message, cut at a word."""
    line = clean_title(message.strip().split("\n", 1)[0])
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS].rsplit(" ", 1)[0]
    return f"{cut}…"


def _resume(session: Session, turn: TurnRow, old: TurnRow) -> None:
    """Continue from an old turn, removing an answer that broke off from what the model reads.

    People still see it.
    """
    turn.message_position, turn.state_version = old.message_position, old.state_version
    stored = load_state(session, turn.conversation_id)
    kept = list(stored.state["messages"])
    while kept and kept[-1]["role"] == "assistant" and not kept[-1].get("tool_calls"):
        kept.pop()
    if delta := diff_states(stored.state, {**stored.state, "messages": kept}):
        change = views.Change(delta=delta, version=stored.version)
        views.append(session, turn.conversation_id, turn.id, change)


def _bring_to_top(session: Session, conversation: ConversationRow, message: str) -> None:
    """Move the conversation to the top of the list, and name it if it has no name."""
    title = conversation.title or title_of(message)
    session.execute(_TOUCH, {"held_id": conversation.id, "title": title})


_TOUCH = (
    update(ConversationRow)
    .where(ConversationRow.id == bindparam("held_id"))
    .values(title=bindparam("title"), archived=False, updated_at=func.clock_timestamp())
)
