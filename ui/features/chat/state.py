"""What one browser tab remembers about messages being written: composers, texts and keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID, uuid4

import streamlit as st

from backend.schemas.conversations.turns import Turn
from ui import state


def send_key(text: str) -> str:
    """Return the Idempotency-Key of a text: the same until accepted, so a retry is one turn."""
    held = state.memory()
    if held.sent_text != text:
        held.sent_text, held.send_key = text, uuid4().hex
    return held.send_key


def sent() -> None:
    """Forget the key of an accepted message: the same text sent again is another message."""
    state.memory().sent_text = ""


def composer_key(session_id: UUID | None) -> str:
    """Return the key of a session's composer: each has its own, so that drafts stay apart."""
    composers = state.memory().composers
    return composers.setdefault(session_id, f"composer-{uuid4().hex[:8]}")


def name_composer(before: UUID | None, session_id: UUID) -> None:
    """Keep the composer, and with it the cursor, when a new chat becomes a session."""
    composers = state.memory().composers
    if before is None and None in composers:
        composers[session_id] = composers.pop(None)


def leave_composer(session_id: UUID) -> None:
    """Make the composer of a session that is gone, with its unsent text, that of a new chat.

    After a reload only the browser has that text.
    """
    held = state.memory()
    held.gone = session_id
    if session_id in held.composers:
        held.composers[None] = held.composers.pop(session_id)


def edit_key(row_id: UUID) -> str:
    """Return the key of the input in which a message is edited."""
    return f"edit-text-{row_id}"


def session_of_composer(key: str) -> UUID | None:
    """Return the session that a composer belongs to; None while it belongs to a new chat."""
    composers = state.memory().composers
    return next((session_id for session_id, name in composers.items() if name == key), None)


def draft(key: str) -> str:
    """Return the text just submitted in a composer."""
    return str(st.session_state.get(key) or "")


def keep_draft(key: str, text: str) -> None:
    """Keep a text that could not be sent until its composer is drawn again."""
    state.memory().unsent[key] = text


def take_back(turn: Turn) -> None:
    """Have the browser put a turn's message into its session's composer, above an unsent text.

    Only the browser has that text, so Python does not write into the composer itself.
    """
    taken = state.memory().taken_back.setdefault(turn.session_id, [])
    if turn.id not in {one.id for one in taken}:
        taken.append(turn)


@contextmanager
def restored_draft(key: str) -> Iterator[None]:
    """Draw a composer in the block: a text that could not be sent is in it again.

    Streamlit breaks a run off where it is to draw something and another run is asked for. The text
    is kept then, since the browser has not been told of it.
    """
    unsent = state.memory().unsent
    if text := unsent.get(key, ""):
        st.session_state[key] = text
    yield
    unsent.pop(key, None)
