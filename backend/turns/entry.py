"""How a person's message enters a conversation: both views in one transaction."""

from uuid import UUID, uuid4

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.agents.state import user_message
from backend.conversations.delta import diff_states
from backend.conversations.display import user_text
from backend.conversations.messages import add_messages
from backend.conversations.service import clean_title
from backend.conversations.state_store import append_delta, latest_version, load_state
from backend.schemas import DisplayMessage
from db.models.conversation import ConversationRow
from db.models.turn import TurnRow

TITLE_CHARS = 60


def enter_message(session: Session, turn: TurnRow) -> DisplayMessage:
    """Add the turn's message to the display messages and to the agent state.

    The caller holds the conversation's lock, and writes the turn, which has its position now.
    Raises SessionNotFound when the conversation is gone.
    """
    (shown,) = add_messages(session, turn.conversation_id, turn.id, [user_text(turn.message)])
    version = latest_version(session, turn.conversation_id)
    said = user_message(turn.message, str(uuid4()))
    append_delta(session, turn.conversation_id, version, {"append": [said]}, [shown])
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


def touch(session: Session, conversation_id: UUID, message: str) -> None:
    """Bring the conversation to the top of the list; name an unnamed one after the message."""
    named = {"title": title_of(message)} if not _title(session, conversation_id) else {}
    session.execute(
        update(ConversationRow)
        .where(ConversationRow.id == conversation_id)
        .values(updated_at=func.clock_timestamp(), archived=False, **named)
    )


def title_of(message: str) -> str:
    """A title from the first line of a message, cut at a word."""
    line = clean_title(message.strip().split("\n", 1)[0])
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS].rsplit(" ", 1)[0]
    return f"{cut}…"


def _title(session: Session, conversation_id: UUID) -> str | None:
    return session.scalar(
        select(ConversationRow.title).where(ConversationRow.id == conversation_id)
    )
