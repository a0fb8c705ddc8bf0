"""Draws the session list: one component whose rows and menus are made in the browser.

The browser's part is `ui/assets/session_list`.
"""

from datetime import datetime
from pathlib import Path
from typing import Any

import streamlit as st

from backend.schemas.conversations.sessions import MAX_TITLE_CHARS, Session
from backend.schemas.conversations.turns import TurnStatus, WaitsFor
from backend.schemas.people.rights import SessionRights
from ui import navigation, state
from ui.features.sessions import acts, pages
from ui.features.sessions.pages import LoadedSessions
from ui.features.sharing import whose
from ui.shared import assets
from ui.shared.formats.times import grouped, zone
from ui.shared.text.markdown import one_line

HTML = (Path(__file__).parent / "session_list.html").read_text()
NEW_TITLE = "New chat"

_component = st.components.v2.component(
    "session_list",
    html=HTML,
    js=assets.loader("session_list/list.js"),
    isolate_styles=False,
)


def show() -> None:
    """Draw the list. It is sent again only when something in it differs."""
    acted = state.memory().acted  # before reading: later acts may be missing from what is read
    data = list_data(pages.load(), acted)
    _component(key=state.SESSION_LIST, data=data, on_acts_change=acts.take)


def list_data(loaded: LoadedSessions, acted: int) -> dict[str, Any]:
    """Return the browser's data: rows by group, and the number up to which all acts are done."""
    open_id = navigation.open_session_id()
    now = datetime.now(zone(st.context.timezone))
    return {
        "groups": [
            {"name": name, "rows": [_row(session) for session in sessions]}
            for name, sessions in grouped(loaded.sessions, now)
        ],
        "open": str(open_id) if open_id else None,
        "older": loaded.cursor,
        "archived": state.memory().archived,
        "search": state.search_text(),
        "empty": _empty_text(),
        "acted": acted,
        "limits": {
            "title": MAX_TITLE_CHARS,
            "selected": acts.MAX_AT_ONCE,
            "undo_seconds": acts.UNDO_SECONDS,
        },
    }


def _row(session: Session) -> dict[str, Any]:
    return {
        "id": str(session.id),
        "title": one_line(session.title) or NEW_TITLE,
        "mark": _mark(session),
        "pinned": session.pinned,
        "own": session.rights is SessionRights.OWN,
        "whose": one_line(whose.words(session)),
    }


def _mark(session: Session) -> str:
    """Return the mark before the title: a status, failed, unread, or empty."""
    if session.status == "idle" and session.has_failed:
        return "failed"
    if session.status == "idle":
        return "unread" if session.id in state.memory().unread else ""
    if session.status is TurnStatus.QUEUED and "worker" not in state.server().missing:
        return "running"  # it waits only for a moment
    if session.status is TurnStatus.WAITING and session.waits_for is not WaitsFor.PEOPLE:
        return "running"  # its tasks run, or it continues in a moment
    return str(session.status)


def _empty_text() -> str:
    if state.memory().is_away:
        return "The list cannot be read now."
    if state.search_text():
        return "No session titles match."
    if state.memory().archived:
        return "No archived sessions."
    return "Your conversations will appear here."
