"""The entrance checks of pages: role and session; and ending a page early."""

from typing import NoReturn

import streamlit as st

from backend.schemas.conversations.sessions import Session
from backend.schemas.people.rights import Permission
from ui import navigation, state
from ui.shared.text.markdown import plain


class PageEnd(Exception):
    """Raised to end a page early; `ui/app.py` catches it."""


def require(permission: Permission) -> None:
    """Let only those continue who have the permission; others see whom to ask."""
    if permission not in state.server().permissions:
        st.info("This page is for administrators. Ask one of them if you need it.")
        _end()


def require_accounts() -> None:
    """Let only those continue who work where people sign in."""
    if not state.server().has_accounts:
        st.info(
            "Nobody signs in here, so there is only you. To let others in, set AUTH=local in `.env`"
            " and restart."
        )
        _end()


def session_of_page() -> Session:
    """Return the session that the URL names, after drawing the link back to its chat."""
    session_id = navigation.open_session_id()
    if session_id is None:
        st.info("Open a session first; its header links here.")
        _end()
    session = state.client().session(session_id)
    st.page_link(
        navigation.CHAT_PAGE,
        label=plain(session.title or "New chat", 80),
        icon=":material/arrow_back:",
        query_params=navigation.session_query(session_id),
    )
    return session


def _end() -> NoReturn:
    st.page_link(navigation.CHAT_PAGE, label="Back to your chats", icon=":material/arrow_back:")
    end_page()


def end_page() -> NoReturn:
    """End the page here.

    Not `st.stop()`: after it, Streamlit 1.67 keeps the state of the previous page's widgets, and
    draws those widgets empty when they return.
    """
    raise PageEnd
