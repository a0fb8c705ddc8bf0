"""Rebuilding an agent state from the display messages when the stored one is unreadable."""

from uuid import UUID

from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations import views
from backend.conversations.messages import list_shown
from backend.conversations.rebuild import rebuild_messages
from backend.errors.conversations import SessionBusy
from backend.events.stream import EventStream
from backend.schemas.events import MessageAdded
from backend.turns.queries import context_in, latest_turn, list_unfinished
from backend.turns.run.close import CUT_OFF
from colloquy_kit.messages.display import notice
from colloquy_kit.messages.repair import repair
from colloquy_kit.messages.state import empty_state
from db.models.conversations.conversation import ConversationRow
from db.session import Database

REBUILT = (
    "What the agent remembers was rebuilt from the messages above. Earlier summaries, todos,"
    " payload and files are not part of it."
)


def rebuild_session(
    database: Database, events: EventStream, scope: Scope, session_id: UUID
) -> None:
    """Rebuild a session's agent state, and add a notice of that to the history.

    Raise SessionNotFound, SessionBusy.
    """
    with database.transaction() as session:
        conversation = conversations.lock(session, scope, session_id)
        if list_unfinished(session, session_id):
            raise SessionBusy
        rebuild_state(session, session_id)
        turn = latest_turn(session, session_id)
        change = views.Change(drafts=[notice(REBUILT)])
        shown = views.append(session, session_id, turn.id if turn else None, change).added
        context = context_in(conversation, turn) if turn else None
    if context:
        added = [MessageAdded(context=context, message=row) for row in shown]
        events.publish(session_id, *added, position=shown[-1].position)


def rebuild_state(session: Session, conversation_id: UUID) -> None:
    """Replace the state with one made from the display messages; the caller holds the session."""
    image = session.get_one(ConversationRow, conversation_id).image
    in_team = image.get("manager") is not None
    messages = rebuild_messages(list_shown(session, conversation_id), in_team=in_team)
    state, _ = repair({**empty_state(), "messages": messages}, CUT_OFF)
    views.replace_state(session, conversation_id, state)
