"""The composer: sends or queues a message, stops a turn, retries a failed one."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from backend.schemas.conversations.sessions import DisplayMessage, Session
from backend.schemas.conversations.turns import Turn, TurnStatus
from colloquy_kit.messages.kinds import ContentType
from ui import navigation, state
from ui.client import ClientError
from ui.features.chat import state as chat_state
from ui.features.chat import uploads
from ui.features.chat.history import speaker
from ui.features.domains import state as domain_state
from ui.features.sharing import team_choice, whose
from ui.shared import last_known
from ui.shared.once import is_done, once
from ui.shared.states import queue_words
from ui.shared.text.long_text import verbatim
from ui.shared.text.markdown import plain

RETRYABLE = (TurnStatus.FAILED, TurnStatus.STOPPED)
REBUILD = "rebuild"  # offered by the last row when the stored state cannot be read
NEW_SESSION = "new_session"  # offered when the session's budget is used up
MAX_CHARS = 2_000_000
PROCEED = "Proceed"  # what the button says for a person


def show(session_id: UUID | None, active: Turn | None) -> DeltaGenerator:
    """Draw the composer; while a turn runs, it stays usable and the message is queued.

    Return the place above it, for choices that go with a message.
    """
    placeholder = "Ask anything about your data"
    if active is not None:
        placeholder = "Keep writing: your message will be answered after this turn"
    above = st.bottom.container(horizontal=True, horizontal_alignment="right")
    key = chat_state.composer_key(session_id)
    uploads.show(st.bottom, key)
    with chat_state.restored_draft(key):
        # Streamlit opens a page at its end only if the input is in the main area itself.
        st.chat_input(
            placeholder,
            key=key,
            max_chars=MAX_CHARS,
            accept_file="multiple",
            max_upload_size=state.server().max_file_mb,
            on_submit=_send_draft,
            args=(session_id,),
        )
    if active is not None:
        _stop_button(above, active)
    return above


def show_reading_only(session: Session) -> None:
    """Draw a composer that takes nothing, with a sentence that says why."""
    st.bottom.caption(f":material/visibility: {plain(whose.reading_only(session), 300)}")
    st.chat_input("You may only read here", key=f"reading-{session.id}", disabled=True)


def _stop_button(place: DeltaGenerator, active: Turn) -> None:
    place.button(
        "Stopping" if active.stop_requested else "Stop",
        key=f"stop-{active.id}",
        icon=":material/stop_circle:",
        help="Stop this turn; everything said so far is kept",
        disabled=active.stop_requested,
        on_click=stop,
        args=(active.id,),
    )


def send(session_id: UUID | None, text: str) -> bool:
    """Submit a message; the URL then names its session. On failure, keep why and return False."""
    if not text.strip():
        return False
    domain = domain_state.chosen() if session_id is None else None
    model = state.memory().choice.model
    team = team_choice.chosen() if session_id is None else None
    words = (str(session_id), domain, model, team, text)
    key = chat_state.send_key(" ".join(filter(None, words)))
    try:
        accepted = state.client().send_message(
            session_id, text, key, domain=domain, model=model, team=team
        )
    except ClientError as problem:
        state.flash(problem)
        return False
    chat_state.sent()
    chat_state.name_composer(session_id, accepted.session_id)
    navigation.show_session(accepted.session_id)
    navigation.set_window(accepted.session_id, state.Window())
    return True


def send_first(text: str, composer: str) -> None:
    """Begin a new chat with an example question; a second click opens the session just made.

    The second click still comes from the previous URL, so the composer identifies the chat.
    """
    with state.memory().acting:
        begun = chat_state.session_of_composer(composer)
        if begun is None:
            send(None, text)
        else:
            navigation.show_session(begun)


def show_queue(queued: Sequence[Turn]) -> None:
    """Draw the messages queued behind the running turn, each with a button to take it back."""
    for turn in queued:
        with speaker(is_user=True):
            verbatim(turn.message, f"queued-{turn.id}")
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(f":material/schedule: {queue_words(turn.queue_position)}")
                if not navigation.is_read_only():
                    _take_back_button(turn)


def _take_back_button(turn: Turn) -> None:
    st.button(
        "Take back",
        key=f"unqueue-{turn.id}",
        type="tertiary",
        icon=":material/undo:",
        help="The message returns to the composer",
        on_click=_take_back,
        args=(turn.id,),
    )


def offer_retry(rows: Sequence[DisplayMessage]) -> None:
    """Draw a Retry button after a failed or stopped turn, if it is the latest."""
    last = rows[-1] if rows else None
    if last is None or last.turn_id is None or navigation.is_read_only():
        return
    if last.content_type not in (ContentType.ERROR, ContentType.NOTICE):
        return
    if last.metadata.get("offer") == REBUILD:
        _rebuild_button(last)
        return
    if last.metadata.get("offer") == NEW_SESSION:
        _new_session_link()
        return
    turn = last_known.read(("turn", last.turn_id), state.client().turn, last.turn_id)
    if turn.status in RETRYABLE:
        st.button(
            "Retry",
            key=f"retry-{turn.id}",
            icon=":material/replay:",
            disabled=is_done(turn.id),
            on_click=retry,
            args=(turn.id,),
        )


def offer_to_proceed(rows: Sequence[DisplayMessage]) -> None:
    """Draw a button that agrees to the plan that the last answer proposes, as it is."""
    last = rows[-1] if rows else None
    response = last.metadata.get("response") if last is not None else None
    if last is None or not isinstance(response, dict) or not response.get("proposesPlan"):
        return
    if not navigation.is_read_only():
        st.button(
            "Proceed",
            key=f"proceed-{last.id}",
            type="primary",
            icon=":material/play_arrow:",
            help="Agree to this plan as it is; to change it, write what is to be different",
            disabled=is_done(last.id),
            on_click=_proceed,
            args=(last.id,),
        )


def _proceed(row_id: UUID) -> None:
    """Agree to a plan; the second click of a double click does nothing."""
    session_id = navigation.open_session_id()
    if not is_done(row_id) and send(session_id, PROCEED):
        once(row_id, lambda: None)


def _rebuild_button(offer: DisplayMessage) -> None:
    session_id = navigation.open_session_id()
    if session_id is not None:
        st.button(
            "Rebuild what the agent remembers",
            key=f"rebuild-{session_id}",
            icon=":material/build:",
            help="Uses the messages above; the conversation itself does not change",
            on_click=_try,
            args=(once, offer.id, state.client().rebuild_session, session_id),
        )


def _new_session_link() -> None:
    session_id = navigation.open_session_id()
    if session_id is not None:
        st.page_link(
            navigation.CONFIGURATION_PAGE,
            label="Continue in a new session",
            icon=":material/arrow_forward:",
            query_params=navigation.session_query(session_id),
        )


def stop(turn_id: UUID) -> None:
    """Stop a turn, in a callback; stopping twice is harmless."""
    _try(state.client().stop_turn, turn_id)


def _take_back(turn_id: UUID) -> None:
    """Take a queued message back into the composer; one that an agent has begun is only stopped."""
    with state.flashing():
        stopped = state.client().stop_turn(turn_id)
        if stopped.started_at is None:
            chat_state.take_back(stopped)


def retry(turn_id: UUID) -> None:
    """Retry a turn, in a callback; the second click of a double click does nothing."""
    _try(once, turn_id, state.client().retry_turn, turn_id)


def _try(call: Callable[..., object], *arguments: Any) -> None:
    """Make the call; on failure, show the reason on the page."""
    with state.flashing():
        call(*arguments)


def _send_draft(session_id: UUID | None) -> None:
    key = chat_state.composer_key(session_id)
    text, files = uploads.submitted(key)
    session_id = uploads.take(session_id, key, files)
    if uploads.is_refused(key) or not send(session_id, uploads.with_files(text, key)):
        chat_state.keep_draft(key, text)
    else:
        uploads.sent(key)
