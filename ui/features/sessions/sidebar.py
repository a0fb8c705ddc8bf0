"""The sidebar: New Chat, search, and the sessions by day with their status and menu."""

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from backend.schemas.operations import ServerInfo
from backend.schemas.sessions import Session, SessionPage, TurnStatus
from ui import state
from ui.client import ClientError
from ui.features.sessions import menu as session_menu
from ui.pages import PAGES, PageSpec
from ui.shared import last_known
from ui.shared.areas import area
from ui.shared.text.markdown import plain
from ui.shared.times import grouped, zone

PAGE_SESSIONS = 30
MAX_PINNED = 100
STATUS_ICONS = {
    TurnStatus.RUNNING: "spinner",
    TurnStatus.QUEUED: ":material/schedule:",
    TurnStatus.WAITING: ":material/approval:",
}
FAILED_ICON = ":material/error:"
UNREAD_ICON = ":material/circle:"


def show(server: ServerInfo | None) -> None:
    """Draw the sidebar; without the service only what works without it."""
    with st.sidebar:
        if st.button(
            "New Chat",
            key="new-chat",
            icon=":material/edit_square:",
            shortcut="Mod+Shift+O",
            width="stretch",
        ):
            state.go_to_new_chat()
        st.text_input(
            "Search sessions",
            key=state.SEARCH,
            type="search",
            icon=":material/search:",
            placeholder="Search by title",
            label_visibility="collapsed",
            max_chars=200,
            live="300ms",
            on_change=state.forget_older_sessions,
        )
        if server is not None:
            _sessions()
            _footer(server)


def _sessions() -> None:
    pinned = _load(pinned=True)
    page = _load(pinned=False)
    fresh = [*pinned.items, *page.items]
    state.note_statuses(fresh)
    known = {session.id for session in fresh}
    older = [session for session in state.memory().older if session.id not in known]
    groups = grouped([*fresh, *older], _now())
    with area("sessions", [(name, len(sessions)) for name, sessions in groups]):
        for name, sessions in groups:
            with st.container(gap=None):
                st.caption(name)
                for session in sessions:
                    _row(session)
        if not groups:
            st.caption(_empty_text())
        _older_button(page.next_cursor)


def _row(session: Session) -> None:
    is_open = session.id == state.open_session_id()
    title = plain(session.title or "New chat", 120)
    with st.container(horizontal=True, gap=None, wrap=False, vertical_alignment="center"):
        # A row within the row: the title takes the width that the menu leaves, and is cut there.
        with st.container(horizontal=True, width="stretch"):
            opened = st.button(
                f"**{title}**" if is_open else title,
                key=f"open-{session.id}",
                type="tertiary",
                icon=_icon(session),
                wrap=False,
            )
        session_menu.show(session)
    if opened:
        state.go_to_session(session.id)


def _icon(session: Session) -> str | None:
    if session.status == "idle" and session.has_failed:
        return FAILED_ICON
    if session.status == "idle":
        return UNREAD_ICON if session.id in state.memory().unread else None
    if session.status is TurnStatus.QUEUED and "worker" not in state.server().missing:
        return STATUS_ICONS[TurnStatus.RUNNING]  # it is a moment's wait
    return STATUS_ICONS.get(session.status)


def _older_button(first_cursor: str | None) -> None:
    held = state.memory()
    cursor = held.older_cursor if held.older else first_cursor
    if cursor is not None:
        st.button(
            "Show older",
            key="older",
            type="tertiary",
            icon=":material/expand_more:",
            on_click=_load_older,
            args=(cursor,),
        )


def _load(*, pinned: bool, cursor: str | None = None) -> SessionPage:
    """Pinned sessions stand first however old they are, so they are a list of their own."""
    shown = ("sessions", pinned, cursor, state.search_text(), state.memory().archived)
    return last_known.read(
        shown,
        state.client().sessions,
        limit=MAX_PINNED if pinned else PAGE_SESSIONS,
        cursor=cursor,
        q=state.search_text(),
        archived=state.memory().archived,
        pinned=pinned,
    )


def _load_older(cursor: str) -> None:
    held = state.memory()
    try:
        page = _load(pinned=False, cursor=cursor)
    except ClientError as problem:
        state.flash(problem)
        return
    if held.older and held.older_cursor != cursor:
        return  # a second click: they are here
    held.older += page.items
    held.older_cursor = page.next_cursor


def _empty_text() -> str:
    if state.search_text():
        return "No session has this in its title."
    if state.memory().archived:
        return "No session is archived."
    return "Your conversations will appear here."


def _footer(server: ServerInfo) -> None:
    held = state.memory()
    with st.container(gap=None):
        st.divider()
        st.button(
            "Back to sessions" if held.archived else "Archived",
            key="archived",
            type="tertiary",
            icon=":material/arrow_back:" if held.archived else ":material/inventory_2:",
            on_click=_show_archived,
            args=(not held.archived,),
        )
        _links([page for page in PAGES if page.key and not page.for_admins])
        admin_pages = [page for page in PAGES if page.key and page.for_admins]
        if server.is_admin:
            with st.popover("Administration", icon=":material/settings:", type="tertiary"):
                _links(admin_pages)


def _links(pages: Sequence[PageSpec]) -> None:
    for page in pages:
        label, key = _label(page), page.key
        if st.button(label, key=key, type="tertiary", icon=page.icon, shortcut=page.shortcut):
            st.switch_page(page.path)


def _label(page: PageSpec) -> str:
    waiting = state.server().pending_approvals if page.path == state.INBOX_PAGE else 0
    return f"{page.title} :primary-badge[{waiting:,}]" if waiting else page.title


def _show_archived(archived: bool) -> None:
    state.memory().archived = archived
    state.forget_older_sessions()


def _now() -> datetime:
    return datetime.now(zone(st.context.timezone))
