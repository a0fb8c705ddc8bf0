"""What one browser tab remembers: the only place that touches the URL and the session state."""

import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from uuid import UUID, uuid4

import streamlit as st

from backend.schemas.operations import ServerInfo
from backend.schemas.servers import ServersReport
from backend.schemas.sessions import Session
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
SEARCH = "search"
PAGE_ROWS = 50
WINDOW_ROWS = 150


@dataclass(frozen=True)
class Window:
    """Which display messages are on the page: the last `limit` before position `before`."""

    limit: int = PAGE_ROWS
    before: int | None = None

    @property
    def is_latest(self) -> bool:
        """Whether the window ends at the newest message."""
        return self.before is None

    def rows(self, message_count: int) -> int:
        """Return how many rows to ask for; the first one stays while up to fifty new ones come."""
        return self.limit + (message_count % PAGE_ROWS if self.is_latest else 0)

    def earlier(self, positions: Sequence[int]) -> "Window":
        """The window with fifty earlier messages; a full one moves and lets go of the latest."""
        if self.limit < WINDOW_ROWS:
            return Window(self.limit + PAGE_ROWS, self.before)
        return Window(self.limit, positions[-PAGE_ROWS:][0])


@dataclass(frozen=True)
class Area:
    """What a part of the page showed in the run before, and in which of its two places."""

    identity: object = None
    rows: int = 0
    is_moved: bool = False


@dataclass
class Memory:
    """One tab's memory; a reload begins a new one, so nothing here may be the only copy."""

    windows: dict[UUID, Window] = field(default_factory=dict)
    send_key: str = field(default_factory=lambda: uuid4().hex)
    sent_text: str = ""
    taken: int = 0
    composers: dict[UUID | None, str] = field(default_factory=dict)
    unsent: dict[str, str] = field(default_factory=dict)
    flash: ClientError | None = None
    older: list[Session] = field(default_factory=list)
    older_cursor: str | None = None
    archived: bool = False
    statuses: dict[UUID, str] = field(default_factory=dict)
    unread: set[UUID] = field(default_factory=set)
    done: dict[Hashable, Any] = field(default_factory=dict)
    acting: Lock = field(default_factory=Lock)
    asked_again: set[UUID] = field(default_factory=set)
    continuing: dict[UUID, str] = field(default_factory=dict)
    edited: UUID | None = None
    cursors: list[str] = field(default_factory=list)
    expanded: set[str] = field(default_factory=set)
    server: ServerInfo | None = None
    drawn_from: tuple[Any, ...] | None = None
    server_reports: dict[UUID, ServersReport] = field(default_factory=dict)
    areas: dict[str, Area] = field(default_factory=dict)
    inspected: dict[UUID, int | None] = field(default_factory=dict)
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
    return st.query_params.get("view") == "read"


def show_session(session_id: UUID) -> None:
    """Put a session into the URL; for callbacks, where switching pages is not possible."""
    st.query_params["session"] = str(session_id)


def go_to_session(session_id: UUID, *, read_only: bool = False) -> None:
    """Open a session at its latest message."""
    memory().windows.pop(session_id, None)
    view = {"view": "read"} if read_only else {}
    st.switch_page(CHAT_PAGE, query_params={"session": str(session_id), **view})


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
    """Show another part of a session's history."""
    memory().windows[session_id] = to


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


def flash(error: ClientError) -> None:
    """Keep an error of a callback for the page to show once."""
    memory().flash = error


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
    held.older, held.older_cursor = [], None


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
