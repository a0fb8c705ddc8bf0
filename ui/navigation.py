"""The location of one browser tab: page, session and place in it; most of it is in the URL."""

import re
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

import streamlit as st

from backend.schemas.people.rights import SessionRights
from ui import state
from ui.state import Destination

CHAT_PAGE = "app_pages/chat.py"
SESSIONS_PAGE = "app_pages/administration/sessions.py"
WORK_PAGE = "app_pages/administration/work.py"
USAGE_PAGE = "app_pages/administration/usage.py"
SERVERS_PAGE = "app_pages/administration/servers.py"
INBOX_PAGE = "app_pages/inbox.py"
GRANTS_PAGE = "app_pages/administration/grants.py"
RETENTION_PAGE = "app_pages/administration/retention.py"
DATA_PAGE = "app_pages/data.py"
IMPORT_PAGE = "app_pages/imports.py"
DOMAINS_PAGE = "app_pages/administration/domains.py"
CONFIGURATION_PAGE = "app_pages/configuration.py"
INSPECTOR_PAGE = "app_pages/inspector.py"
SEARCH_PAGE = "app_pages/search.py"
TASKS_PAGE = "app_pages/tasks.py"
MODELS_PAGE = "app_pages/administration/models.py"
PEOPLE_PAGE = "app_pages/administration/people.py"
TEAMS_PAGE = "app_pages/administration/teams.py"
SIGNING_IN_PAGE = "app_pages/administration/signing_in.py"
AUDIT_PAGE = "app_pages/administration/audit.py"
AGENTS_PAGE = "app_pages/agents.py"
SHARED_PAGE = "app_pages/shared.py"
ACCOUNT_PAGE = "app_pages/account.py"
WEBHOOKS_PAGE = "app_pages/webhooks.py"
LINK = "link"
LINK_PATTERN = "[A-Za-z0-9_-]{1,200}"  # of its token
MAX_DIGITS = 9  # of a position in the URL


def open_session_id() -> UUID | None:
    """Return the session that the URL names; None for a new chat or a broken link."""
    try:
        return UUID(st.query_params.get("session", ""))
    except ValueError:
        return None


def link_is_broken() -> bool:
    """Return whether the URL names a session with an invalid id."""
    return bool(st.query_params.get("session")) and open_session_id() is None


def is_read_only() -> bool:
    """Return whether the page is read-only: it asks for that, or the person may not do more."""
    opened = state.memory().opened
    may_only_read = (
        opened is not None
        and opened.id == open_session_id()
        and opened.rights is SessionRights.READ
    )
    return asks_to_read() or may_only_read


def asks_to_read() -> bool:
    """Return whether the page is opened read-only, without a composer."""
    return st.query_params.get("view") == "read"


def link_token() -> str | None:
    """Return the token of the link through which a session is read."""
    token = st.query_params.get(LINK, "")
    return token if re.fullmatch(LINK_PATTERN, token) else None


def result_path(session_id: UUID, result_id: str) -> str:
    """Return the API path of a stored result."""
    return f"sessions/{session_id}/results/{result_id}"


def show_session(session_id: UUID) -> None:
    """Put a session into the URL; for callbacks, where switching pages is not possible."""
    st.query_params["session"] = str(session_id)
    st.query_params.pop("at", None)


def show_latest(session_id: UUID) -> None:
    """Show the end of a session's history, in a callback."""
    set_window(session_id, state.Window())
    st.query_params.pop("at", None)


def follow_again(session_id: UUID) -> None:
    """Follow the URL to its message once more: it may be on the page now."""
    state.memory().jumps.pop(session_id, None)


def go(page: str, query: Mapping[str, str]) -> None:
    """Open a page, and end the run. A request that arrives meanwhile does not prevent it."""
    state.memory().destination = Destination(page, query)
    st.switch_page(page, query_params=query)


def go_to_session(session_id: UUID, *, read_only: bool = False) -> None:
    """Open a session at its latest message."""
    state.memory().windows.pop(session_id, None)
    view = {"view": "read"} if read_only else {}
    go(CHAT_PAGE, {"session": str(session_id), **view})


def go_to_new_chat() -> None:
    """Open the empty page; the session is made with its first message."""
    go(CHAT_PAGE, {})


def leave_for(session_id: UUID | None) -> None:
    """Go to a session or a new chat with the next run; for callbacks, which cannot switch pages."""
    held = state.memory()
    if session_id is not None:
        held.windows.pop(session_id, None)
    query = {} if session_id is None else {"session": str(session_id)}
    held.destination = Destination(CHAT_PAGE, query)


def arrive(page: str) -> None:
    """Go where the tab is led, and note where it is; `page`: the one that this run draws.

    Runs overlap, and one that is stopped ends somewhere here: the next one leads there as well.
    """
    held = state.memory()
    destination = held.destination
    if destination is not None:
        if destination.page != page:
            st.switch_page(destination.page, query_params=destination.query)
        st.query_params.from_dict(destination.query)
        if held.destination is destination:
            held.destination = None
    here = Destination(page, st.query_params.to_dict())
    if held.drawn not in (here, None):
        held.left.append(held.drawn)
    held.left = [place for place in held.left if place != here]
    held.drawn = here


def stay(page: str) -> None:
    """Stay where the tab is; for requests that lead nowhere by themselves, such as clicks.

    The browser may not know yet where it was led: its request then carries an address that the tab
    has left. `page`: the page of the request.
    """
    held = state.memory()
    here = Destination(page, st.query_params.to_dict())
    if held.destination is not None and held.destination.page == page:
        # Before the callbacks of this request: they may lead further.
        st.query_params.from_dict(held.destination.query)
        held.destination = None
    elif held.drawn is None or here == held.drawn:
        held.left = []
    elif here in held.left and page == held.drawn.page:
        st.query_params.from_dict(held.drawn.query)
    elif here in held.left:
        held.destination = held.destination or held.drawn


def session_query(session_id: UUID) -> dict[str, str]:
    """Return the query of a link to another page about a session; read-only stays read-only."""
    view = {"view": "read"} if asks_to_read() else {}
    return {"session": str(session_id), **view}


def chosen_call() -> tuple[int, int] | None:
    """Return the model call that the URL names, by version and number."""
    version, _, number = st.query_params.get("call", "").partition(".")
    return (int(version), int(number)) if version.isdecimal() and number.isdecimal() else None


def choose_call(version: int, number: int) -> None:
    """Put a model call into the URL."""
    st.query_params["call"] = f"{version}.{number}"


def window(session_id: UUID) -> state.Window:
    """Return the part of a session's history that is on the page."""
    return state.memory().windows.get(session_id, state.Window())


def set_window(session_id: UUID, to: state.Window) -> None:
    """Show another part of a session's history; a linked message is no longer marked."""
    held = state.memory()
    held.windows[session_id] = to
    if (jump := held.jumps.get(session_id)) is not None:
        held.jumps[session_id] = replace(jump, is_marked=False)


def wanted_jump(session_id: UUID) -> int | None:
    """Return the position that the URL points to; None without one, or if it was followed."""
    at = st.query_params.get("at", "")
    if not at.isdecimal() or len(at) > MAX_DIGITS or int(at) == 0:
        return None
    jump = state.memory().jumps.get(session_id)
    return None if jump is not None and jump.position == int(at) else int(at)


def jump_to(session_id: UUID, position: int, row: UUID | None, window: state.Window) -> None:
    """Show the window around a position, and mark a row; None: the page does not show the row."""
    held = state.memory()
    set_window(session_id, window)
    held.jump_count += 1
    held.jumps[session_id] = state.Jump(position, held.jump_count, row)


def jump(session_id: UUID) -> state.Jump | None:
    """Return the linked place, while the page still shows the window around it."""
    found = state.memory().jumps.get(session_id)
    return found if found is not None and found.is_marked else None


def forget_jumps() -> None:
    """Forget followed links when links to messages are shown again: each works once more."""
    state.memory().jumps.clear()
