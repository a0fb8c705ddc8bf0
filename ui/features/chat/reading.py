"""What the chat page reads of its session before it is drawn."""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from backend.schemas.conversations.sessions import Session
from backend.schemas.conversations.turns import Turn
from ui import state
from ui.client import NotFound
from ui.features.chat import history
from ui.features.chat import state as chat_state
from ui.shared import last_known


def begin(session_id: UUID) -> None:
    """Start reading all of it."""
    client = state.client()
    last_known.begin(("session", session_id), partial(client.session, session_id))
    last_known.begin(("turns", session_id), partial(client.turns, session_id))
    history.begin(session_id, after=("turns", session_id))


def session(session_id: UUID) -> Session:
    """Return the session. Raise NotFound; what was unsent in it is kept for a new chat."""
    try:
        return last_known.read(("session", session_id), state.client().session, session_id)
    except NotFound:
        chat_state.leave_composer(session_id)
        raise


def turns(session_id: UUID) -> Sequence[Turn]:
    """Return its unfinished turns, in order."""
    return last_known.read(("turns", session_id), state.client().turns, session_id).items
