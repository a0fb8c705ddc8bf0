"""How a message that had to wait, or is asked anew, enters a conversation: both views at once."""

from uuid import UUID, uuid4

from sqlalchemy import bindparam, func, update
from sqlalchemy.orm import Session

from backend.agents.state import user_message
from backend.conversations.display import user_text
from backend.conversations.messages import add_messages
from backend.conversations.service import clean_title
from backend.conversations.state.delta import diff_states
from backend.conversations.state.store import append_delta, append_to_latest, load_state
from backend.schemas.sessions import DisplayMessage
from db.models.conversation import ConversationRow
from db.models.turn import TurnRow

TITLE_CHARS = 60


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
    title = conversation.title or title_of(message)
    session.execute(_TOUCH, {"held_id": conversation.id, "title": title})


def title_of(message: str) -> str:
    """A title from the first line of a message, cut at a word."""
    line = clean_title(message.strip().split("\n", 1)[0])
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS].rsplit(" ", 1)[0]
    return f"{cut}…"


_TOUCH = (
    update(ConversationRow)
    .where(ConversationRow.id == bindparam("held_id"))
    .values(title=bindparam("title"), archived=False, updated_at=func.clock_timestamp())
)
