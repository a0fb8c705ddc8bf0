"""What one browser tab remembers: the only place that touches the URL and the session state."""

import os
import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any
from uuid import UUID, uuid4

import streamlit as st

from backend.schemas.conversations.sessions import Session
from backend.schemas.domains.servers import ServersReport
from backend.schemas.operations.server import ServerInfo
from ui.client import DEFAULT_API_URL, Client, ClientError

CHAT_PAGE = "app_pages/chat.py"
SESSIONS_PAGE = "app_pages/sessions.py"
WORK_PAGE = "app_pages/work.py"
USAGE_PAGE = "app_pages/usage.py"
SERVERS_PAGE = "app_pages/servers.py"
INBOX_PAGE = "app_pages/inbox.py"
RETENTION_PAGE = "app_pages/retention.py"
DATA_PAGE = "app_pages/data.py"
DOMAINS_PAGE = "app_pages/domains.py"
CONFIGURATION_PAGE = "app_pages/configuration.py"
INSPECTOR_PAGE = "app_pages/inspector.py"
SEARCH_PAGE = "app_pages/search.py"
MODELS_PAGE = "app_pages/models.py"
SHARED_PAGE = "app_pages/shared.py"
LINK = "link"
SEARCH = "search"
SESSION_LIST = "session-list"
PAGE_ROWS = 50
WINDOW_ROWS = 150
MAX_KNOWN = 30  # answers of the service that a tab keeps for while it is away
_TOKEN = re.compile(r"[\w-]{1,200}", re.ASCII)
MAX_DIGITS = 9  # of a position in the URL


@dataclass(frozen=True)
class Window:
    """Which display messages are on the page: so many, the latest, or before or after a position.

    How it moves is in `ui.features.chat.windows`.
    """

    limit: int = PAGE_ROWS
    before: int | None = None
    after: int | None = None

    @property
    def is_latest(self) -> bool:
        """Whether the window ends at the newest message."""
        return self.before is None and self.after is None

    def rows(self, message_count: int) -> int:
        """Return how many rows to ask for; the first one stays while up to fifty new ones come."""
        return self.limit + (message_count % PAGE_ROWS if self.is_latest else 0)


@dataclass(frozen=True)
class Jump:
    """A place in a session that a link has led to; `row` is what is marked there, if it is shown.

    `number` tells it from all others of this tab.
    """

    position: int
    number: int
    row: UUID | None = None
    is_marked: bool = True


@dataclass(frozen=True)
class Area:
    """What a part of the page showed in the run before, and in which of its two places."""

    identity: object = None
    rows: int = 0
    is_moved: bool = False


@dataclass(frozen=True)
class Destination:
    """Where a callback leads to: a session, or a new chat."""

    session_id: UUID | None


@dataclass(frozen=True)
class ModelChoice:
    """What the next message says of its model, None: as before; and the field that was drawn.

    `key` and `shown` are the field's key and what it shows, None where there is no choice.
    """

    model: str | None = None
    key: str | None = None
    shown: str | None = None


@dataclass
class Memory:
    """One tab's memory; a reload begins a new one, so nothing here may be the only copy."""

    windows: dict[UUID, Window] = field(default_factory=dict)
    jumps: dict[UUID, Jump] = field(default_factory=dict)
    jump_count: int = 0
    send_key: str = field(default_factory=lambda: uuid4().hex)
    sent_text: str = ""
    choice: ModelChoice = field(default_factory=ModelChoice)
    draws: int = 0
    rows_wanted: bool = False
    composers: dict[UUID | None, str] = field(default_factory=dict)
    unsent: dict[str, str] = field(default_factory=dict)
    flash: ClientError | None = None
    said: list[str] = field(default_factory=list)
    first: list[Session] = field(default_factory=list)
    first_cursor: str | None = None
    older: list[Session] = field(default_factory=list)
    older_cursor: str | None = None
    acted: int = 0
    destination: Destination | None = None
    asked_allowed: UUID | None = None
    archived: bool = False
    statuses: dict[UUID, str] = field(default_factory=dict)
    unread: set[UUID] = field(default_factory=set)
    done: dict[Hashable, Any] = field(default_factory=dict)
    followed: set[UUID] = field(default_factory=set)
    acting: Lock = field(default_factory=Lock)
    asked_again: set[UUID] = field(default_factory=set)
    continuing: dict[UUID, str] = field(default_factory=dict)
    edited: UUID | None = None
    cursors: list[str] = field(default_factory=list)
    expanded: set[str] = field(default_factory=set)
    turn_figures: dict[UUID, tuple[object, Any]] = field(default_factory=dict)
    own_queries: dict[UUID, Any] = field(default_factory=dict)
    server: ServerInfo | None = None
    known: dict[Hashable, Any] = field(default_factory=dict)
    is_away: bool = False
    opened: Session | None = None
    server_reports: dict[UUID, ServersReport] = field(default_factory=dict)
    areas: dict[str, Area] = field(default_factory=dict)
    inspected: dict[UUID, int | None] = field(default_factory=dict)
    shared_cursors: dict[str, list[str]] = field(default_factory=dict)
    listed_calls: dict[UUID, int | None] = field(default_factory=dict)


@st.cache_resource
def _client(base_url: str) -> Client:
    return Client(base_url)


def client() -> Client:
    """Return the API's client, shared by all tabs of this process."""
    return _client(os.environ.get("API_URL") or DEFAULT_API_URL)


def memory() -> Memory:
    """Return the memory of the tab that this run belongs to."""
    found = st.session_state.get("memory")
    if not isinstance(found, Memory):
        found = st.session_state["memory"] = Memory()
    return found


def server() -> ServerInfo:
    """Return what the frame learned of the server in this run."""
    found = memory().server
    return found or client().server()


def open_session_id() -> UUID | None:
    """Return the session that the URL names; None for a new chat or a broken link."""
    try:
        return UUID(st.query_params.get("session", ""))
    except ValueError:
        return None


def link_is_broken() -> bool:
    """Return whether the URL names a session in a form that cannot be one."""
    return bool(st.query_params.get("session")) and open_session_id() is None


def is_read_only() -> bool:
    """Return whether the page is opened to be read, without a composer."""
    return st.query_params.get("view") == "read" or link_token() is not None


def link_token() -> str | None:
    """Return the token of the link by which a session is read."""
    token = st.query_params.get(LINK, "")
    return token if _TOKEN.fullmatch(token) else None


def result_path(session_id: UUID, result_id: str) -> str:
    """Return where a stored result is got: by the link that opened the page, if one did."""
    token = link_token()
    of = f"shared/{token}" if token else f"sessions/{session_id}"
    return f"{of}/results/{result_id}"


def show_session(session_id: UUID) -> None:
    """Put a session into the URL; for callbacks, where switching pages is not possible."""
    st.query_params["session"] = str(session_id)
    st.query_params.pop("at", None)


def show_latest(session_id: UUID) -> None:
    """Show the end of a session's history, in a callback."""
    set_window(session_id, Window())
    st.query_params.pop("at", None)


def follow_again(session_id: UUID) -> None:
    """Let the URL lead to its message once more: it may be on the page now."""
    memory().jumps.pop(session_id, None)


def go_to_session(session_id: UUID, *, read_only: bool = False) -> None:
    """Open a session at its latest message."""
    memory().windows.pop(session_id, None)
    view = {"view": "read"} if read_only else {}
    st.switch_page(CHAT_PAGE, query_params={"session": str(session_id), **view})


def leave_for(session_id: UUID | None) -> None:
    """Go to a session or a new chat with the next run; for callbacks, which know no pages."""
    memory().destination = Destination(session_id)


def follow_destination(*, is_on_chat: bool) -> None:
    """Go where a callback led: on the chat page within this run, from another one by a switch."""
    held = memory()
    destination, held.destination = held.destination, None
    if destination is None:
        return
    if destination.session_id is None:
        query = {}
    else:
        held.windows.pop(destination.session_id, None)
        query = {"session": str(destination.session_id)}
    if not is_on_chat:
        st.switch_page(CHAT_PAGE, query_params=query)
    st.query_params.from_dict(query)


def session_query(session_id: UUID) -> dict[str, str]:
    """What a link to another page about a session names; opened to be read, it stays that."""
    view = {"view": "read"} if is_read_only() else {}
    return {"session": str(session_id), **view}


def inspected_before(session_id: UUID) -> int | None:
    """Before which position the inspector shows the history; None: the latest."""
    return memory().inspected.get(session_id)


def inspect_before(session_id: UUID, before: int | None) -> None:
    """Show another part of the history in the inspector."""
    memory().inspected[session_id] = before


def listed_before(session_id: UUID) -> int | None:
    """Before which version the inspector lists model calls; None: the latest."""
    return memory().listed_calls.get(session_id)


def list_before(session_id: UUID, before: int | None) -> None:
    """List other model calls in the inspector."""
    memory().listed_calls[session_id] = before


def chosen_call() -> tuple[int, int] | None:
    """Return the model call that the URL names, by version and number."""
    version, _, number = st.query_params.get("call", "").partition(".")
    return (int(version), int(number)) if version.isdecimal() and number.isdecimal() else None


def choose_call(version: int, number: int) -> None:
    """Put a model call into the URL."""
    st.query_params["call"] = f"{version}.{number}"


def go_to_new_chat() -> None:
    """Open the empty page; the session is made with its first message."""
    st.switch_page(CHAT_PAGE, query_params={})


def window(session_id: UUID) -> Window:
    """Return the part of a session's history that is on the page."""
    return memory().windows.get(session_id, Window())


def set_window(session_id: UUID, to: Window) -> None:
    """Show another part of a session's history; what a link has led to is marked no more."""
    held = memory()
    held.windows[session_id] = to
    if (jump := held.jumps.get(session_id)) is not None:
        held.jumps[session_id] = replace(jump, is_marked=False)


def wanted_jump(session_id: UUID) -> int | None:
    """Return the position that the URL leads to; None without one, or where it has led there."""
    at = st.query_params.get("at", "")
    if not at.isdecimal() or len(at) > MAX_DIGITS or int(at) == 0:
        return None
    jump = memory().jumps.get(session_id)
    return None if jump is not None and jump.position == int(at) else int(at)


def jump_to(session_id: UUID, position: int, row: UUID | None, window: Window) -> None:
    """Show the window around a position, and mark a row of it; None: the page does not show it."""
    held = memory()
    set_window(session_id, window)
    held.jump_count += 1
    held.jumps[session_id] = Jump(position, held.jump_count, row)


def jump(session_id: UUID) -> Jump | None:
    """Return the place that a link has led to, while the page still shows what is around it."""
    found = memory().jumps.get(session_id)
    return found if found is not None and found.is_marked else None


def forget_jumps() -> None:
    """The links that lead to messages are on the page again: each one leads there once more."""
    memory().jumps.clear()


def send_key(text: str) -> str:
    """The Idempotency-Key of a text: the same until it was answered, so a retry is one turn."""
    held = memory()
    if held.sent_text != text:
        held.sent_text, held.send_key = text, uuid4().hex
    return held.send_key


def sent() -> None:
    """The message was accepted: the next one, also of the same text, is another."""
    memory().sent_text = ""


def continue_key(session_id: UUID) -> str:
    """Return the Idempotency-Key of going on from a session: for both clicks of a double click."""
    return memory().continuing.setdefault(session_id, uuid4().hex)


def forget_continuing(session_id: UUID) -> None:
    """The page stands there without a click: the next one makes another session."""
    memory().continuing.pop(session_id, None)


def composer_key(session_id: UUID | None) -> str:
    """Return the key of a session's composer: each has its own, so that no draft travels."""
    composers = memory().composers
    return composers.setdefault(session_id, f"composer-{uuid4().hex[:8]}")


def name_composer(before: UUID | None, session_id: UUID) -> None:
    """A new chat has become a session: it keeps its composer, and with it the cursor there."""
    composers = memory().composers
    if before is None and None in composers:
        composers[session_id] = composers.pop(None)


def session_of_composer(key: str) -> UUID | None:
    """Return the session that a composer belongs to; None while it is that of a new chat."""
    composers = memory().composers
    return next((session_id for session_id, name in composers.items() if name == key), None)


def draft(key: str) -> str:
    """Return what was just submitted in a composer."""
    return str(st.session_state.get(key) or "")


def keep_draft(key: str, text: str) -> None:
    """Keep a text that could not be sent until its composer is drawn again."""
    memory().unsent[key] = text


def restore_draft(key: str) -> None:
    """Put a text that could not be sent back into its composer, which is about to be drawn."""
    if text := memory().unsent.pop(key, ""):
        st.session_state[key] = text


def search_text() -> str:
    """Return what the sidebar's search holds."""
    return str(st.session_state.get(SEARCH) or "").strip()


def session_list_acts() -> Any:
    """Return what the session list asks for in this run, as the browser sent it."""
    return st.session_state[SESSION_LIST].get("acts") or []


def flash(error: ClientError) -> None:
    """Keep an error of a callback for the page to show once."""
    memory().flash = error


def say(text: str) -> None:
    """Keep what an action has done, as Markdown, for the page to say once."""
    memory().said.append(text)


def take_said() -> list[str]:
    """Return what the last actions have done, once."""
    held = memory()
    said, held.said = held.said, []
    return said


def take_flash() -> ClientError | None:
    """Return the error of the last callback, once."""
    held = memory()
    error, held.flash = held.flash, None
    return error


def area_moves(name: str, identity: object, rows: int) -> bool:
    """Whether an area takes its second place in this run: it changes places with its identity."""
    areas = memory().areas
    before = areas.get(name, Area())
    differs = before.identity != identity or rows < before.rows
    areas[name] = Area(identity, rows, before.is_moved != differs)
    return areas[name].is_moved


def forget_older_sessions() -> None:
    """Forget the loaded older pages of the sidebar, whose rows may have changed."""
    held = memory()
    held.first, held.older, held.older_cursor = [], [], None


def note_statuses(sessions: Iterable[Session]) -> None:
    """Mark as unread what has ended since the list was last drawn, but for the open one."""
    held, open_id = memory(), open_session_id()
    for session in sessions:
        was_busy = held.statuses.get(session.id, "idle") != "idle"
        if was_busy and session.status == "idle":
            held.unread.add(session.id)
        held.statuses[session.id] = session.status
    if open_id is not None:
        held.unread.discard(open_id)
