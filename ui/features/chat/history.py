"""Draws what is stored of a session: a window of its history, with earlier messages on demand."""

from collections.abc import Sequence
from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from backend.schemas.sessions import DisplayMessage, MessagePage, MessageType, Session
from ui import state
from ui.features.chat import message_actions, renderers, steps
from ui.features.chat.answer import pictures_of
from ui.features.chat.blocks import Block, to_groups
from ui.features.chat.message_actions import Actions
from ui.features.chat.renderers import Place
from ui.shared.areas import area
from ui.shared.text.markdown import plain

USER_AVATAR = ":material/person:"
AGENT_AVATAR = ":material/forum:"


def load(session: Session) -> MessagePage:
    """Return the rows of the session's window: one call, however long the history is."""
    window = state.window(session.id)
    limit = window.rows(session.message_count)
    return state.client().messages(session.id, limit=limit, before=window.before)


def show(
    page: MessagePage, settled: Sequence[DisplayMessage], session: Session, actions: Actions
) -> None:
    """Draw the settled rows of a window, and the way to earlier and later ones."""
    session_id = session.id
    groups = to_groups(settled)
    actions = message_actions.with_figures(actions, session, settled)
    first = page.items[0].position if page.items else 0
    with area("history", (session_id, session.branch, first), rows=len(groups)):
        if page.next_before is not None:
            _earlier_button(page, session_id)
        place = Place(session_id, "stored", pictures_of(session_id, settled))
        for group in groups:
            with speaker(is_user=group.is_user, agent=group.agent):
                steps.show(group.blocks, lambda block: _draw(block, place, actions), place)
                if (answer := group.answer) is not None:
                    message_actions.under_answer(answer, actions)
        if not state.window(session_id).is_latest:
            _latest_button(session_id)


def _draw(block: Block, place: Place, actions: Actions) -> None:
    """A block; what a person said with what can be done with it, or the input that changes it."""
    if block.row.message_type is not MessageType.USER:
        renderers.draw(block, place)
    elif message_actions.is_edited(block.row, actions):
        message_actions.edit_in_place(block.row, actions)
    else:
        renderers.draw(block, place)
        message_actions.under_message(block.row, actions)


def speaker(*, is_user: bool, agent: str | None = None) -> DeltaGenerator:
    """Return the frame around what one speaker says."""
    if is_user:
        return st.chat_message("user", avatar=USER_AVATAR)
    return st.chat_message(plain(agent or "assistant"), avatar=AGENT_AVATAR)


def _earlier_button(page: MessagePage, session_id: UUID) -> None:
    window = state.window(session_id)
    with st.container(horizontal_alignment="center"):
        st.button(
            "Show earlier messages",
            key="earlier",
            type="tertiary",
            icon=":material/expand_less:",
            on_click=state.set_window,
            args=(session_id, window.earlier([row.position for row in page.items])),
        )


def _latest_button(session_id: UUID) -> None:
    with st.container(horizontal_alignment="center"):
        st.button(
            "Back to the latest messages",
            key="latest",
            icon=":material/keyboard_double_arrow_down:",
            on_click=state.set_window,
            args=(session_id, state.Window()),
        )
