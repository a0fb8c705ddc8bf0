"""The sidebar: the sessions, which the browser draws by itself, and the links to other pages."""

from collections.abc import Sequence

import streamlit as st

from backend.schemas.operations.server import ServerInfo
from ui import navigation, state
from ui.features.account import menu as account_menu
from ui.features.conversation import component
from ui.pages import PAGES, PageSpec
from ui.shared.formats import reader

LIST = "session-list"


def show(server: ServerInfo | None, open_page: str) -> None:
    """Draw the sidebar; without the service, only the parts that work without it.

    `open_page`: the URL path of the open page.
    """
    with st.sidebar, st.container(key="sidebar-page", gap=None):
        if server is not None:
            waiting = f"{server.pending_approvals} {server.pending_tools}"
            component.show("list", key=LIST, waiting=waiting)
            _footer(server, open_page)


def _footer(server: ServerInfo, open_page: str) -> None:
    with st.container(key="sidebar-footer", gap=None):
        _links([page for page in PAGES if page.key and page.needs is None], open_page)
        permitted = [page for page in PAGES if _is_permitted(page, server)]
        if permitted:
            _tools_to_accept(server.pending_tools)
            with st.popover("Administration", icon=":material/settings:", type="tertiary"):
                _links(permitted, open_page)
        account_menu.show(server)


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
