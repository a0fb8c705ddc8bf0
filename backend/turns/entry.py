"""How a person's message enters a conversation: both views in one transaction."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import func, update
from sqlalchemy.orm import Session

from backend.agents.state import user_message
from backend.conversations.delta import diff_states
from backend.conversations.display import user_text
from backend.conversations.messages import add_messages
from backend.conversations.service import clean_title
from backend.conversations.state_store import append_delta, append_to_latest, load_state
from backend.schemas import DisplayMessage
from db.models.conversation import ConversationRow
from db.models.turn import TurnRow

TITLE_CHARS = 60


def enter_message(
    session: Session, turn: TurnRow, changes: Mapping[str, Any] | None = None
) -> DisplayMessage:
    """Add the turn's message to the display messages and to the agent state.

    The caller holds the conversation's lock, and writes the turn, which has its position now.
    `changes` are made to the conversation's row. Raises SessionNotFound when that is gone.
    """
    text = user_text(turn.message)
    (shown,) = add_messages(session, turn.conversation_id, turn.id, [text], changes)
    said = user_message(turn.message, str(uuid4()))
    append_to_latest(session, turn.conversation_id, {"append": [said]}, [shown])
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


def changes_by(message: str, conversation: ConversationRow) -> dict[str, Any]:
    """What a message changes of its conversation: top of the list, and a name if it has none."""
    named = {} if conversation.title else {"title": title_of(message)}
    return {"updated_at": func.clock_timestamp(), "archived": False, **named}


def touch(session: Session, conversation: ConversationRow, message: str) -> None:
    """Make these changes where the message itself does not enter now."""
    session.execute(
        update(ConversationRow)
        .where(ConversationRow.id == conversation.id)
        .values(**changes_by(message, conversation))
    )


def title_of(message: str) -> str:
    """A title from the first line of a message, cut at a word."""
    line = clean_title(message.strip().split("\n", 1)[0])
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS].rsplit(" ", 1)[0]
    return f"{cut}…"
