"""The sidebar: New Chat, search, the list of sessions, and the links to other pages."""

from collections.abc import Sequence

import streamlit as st

from backend.schemas.operations.server import ServerInfo
from ui import navigation, state
from ui.features.account import menu as account_menu
from ui.features.approvals import allowed as approval_allowed
from ui.features.sessions import pages, session_list
from ui.pages import PAGES, PageSpec
from ui.shared import shortcuts
from ui.shared.formats import reader


def show(server: ServerInfo | None, open_page: str) -> None:
    """Draw the sidebar; without the service, only the parts that work without it.

    `open_page`: the URL path of the open page.
    """
    with st.sidebar:
        # No callbacks, here and for the links: pages that have started anew know of none.
        if st.button(
            "New Chat",
            key="new-chat",
            icon=":material/edit_square:",
            shortcut="Mod+Shift+O",
            width="stretch",
        ):
            navigation.go_to_new_chat()
        _search()
        if server is not None:
            session_list.show()
            _footer(server, open_page)
            _allowed_tools()


def _search() -> None:
    st.text_input(
        "Search sessions",
        key=state.SEARCH,
        type="search",
        icon=":material/search:",
        placeholder="Search by title",
        label_visibility="collapsed",
        live="300ms",
        on_change=pages.begin_anew,
    )


def _allowed_tools() -> None:
    """Open the dialog of allowed tools; drawn by Python, because it calls the API."""
    held = state.memory()
    session_id, held.asked_allowed = held.asked_allowed, None
    if session_id is not None:
        approval_allowed.show(state.client().session(session_id))


def _footer(server: ServerInfo, open_page: str) -> None:
    held = state.memory()
    with st.container(key="sidebar-footer", gap=None):
        st.button(
            "Back to sessions" if held.archived else "Archived",
            key="archived",
            type="tertiary",
            icon=":material/arrow_back:" if held.archived else ":material/inventory_2:",
            on_click=_show_archived,
            args=(not held.archived,),
        )
        _links([page for page in PAGES if page.key and page.needs is None], open_page)
        permitted = [page for page in PAGES if _is_permitted(page, server)]
        if permitted:
            _tools_to_accept(server.pending_tools)
            with st.popover("Administration", icon=":material/settings:", type="tertiary"):
                _links(permitted, open_page)
        account_menu.show(server)
        shortcuts.button()


def _is_permitted(page: PageSpec, server: ServerInfo) -> bool:
    is_here = server.has_accounts or not page.of_accounts
    return bool(page.key) and page.needs in server.permissions and is_here


def _tools_to_accept(count: int) -> None:
    """Draw a link to the tools that no turn uses until they are accepted, if there are any."""
    if not count:
        return
    label = _with_badge("Tools to accept", count)
    if st.button(label, key="tools-to-accept", type="tertiary", icon=":material/new_releases:"):
        navigation.go(navigation.SERVERS_PAGE, {})


def _links(linked: Sequence[PageSpec], open_page: str) -> None:
    for page in linked:
        label, key = _label(page), page.key
        is_pressed = st.button(
            label, key=key, type="tertiary", icon=page.icon, shortcut=page.shortcut
        )
        # Streamlit keeps a search's query in the URL: a link without a query of its own would not
        # leave the page, and the search itself would stay unchanged.
        if is_pressed and not (page.path == navigation.SEARCH_PAGE and page.url_path == open_page):
            navigation.go(page.path, {})


def _label(page: PageSpec) -> str:
    waiting = state.server().pending_approvals if page.path == navigation.INBOX_PAGE else 0
    return _with_badge(page.title, waiting)


def _with_badge(title: str, waiting: int) -> str:
    """Return a title with how much waits behind it for a decision."""
    return f"{title} :primary-badge[{reader.number(waiting)}]" if waiting else title


def _show_archived(archived: bool) -> None:
    state.memory().archived = archived
    pages.begin_anew()
