"""What one browser tab remembers, on any page. Its location is in `ui.navigation`."""

import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Any, TypeVar
from uuid import UUID, uuid4

import streamlit as st

from backend.schemas.conversations.sessions import Session
from backend.schemas.conversations.turns import Turn
from backend.schemas.domains.agents import AgentInfo
from backend.schemas.domains.servers import ServersReport
from backend.schemas.operations.server import ServerInfo
from ui.client import DEFAULT_API_URL, Client, ClientError, connections
from ui.cookies import token_of

T = TypeVar("T")
SEARCH = "search"
SESSION_LIST = "session-list"
PAGE_ROWS = 50
WINDOW_ROWS = 150
TOLD_SECONDS = 3.0  # how long a notice is redrawn: a run may be cut off by the next one
MAX_KNOWN = 30  # responses that a tab keeps for when the service is unavailable


@dataclass(frozen=True)
class Window:
    """The display messages on the page: a number of the latest, or before or after a position."""

    limit: int = PAGE_ROWS
    before: int | None = None
    after: int | None = None

    @property
    def is_latest(self) -> bool:
        """Whether the window ends at the newest message."""
        return self.before is None and self.after is None

    def rows(self, message_count: int) -> int:
        """Return how many rows to read; the first one stays while up to fifty new ones arrive."""
        return self.limit + (message_count % PAGE_ROWS if self.is_latest else 0)


@dataclass(frozen=True)
class Jump:
    """The place in a session that a link pointed to; `row` is the marked row, if it is shown.

    `number` distinguishes it from all others of this tab.
    """

    position: int
    number: int
    row: UUID | None = None
    is_marked: bool = True


@dataclass(frozen=True)
class Area:
    """What a part of the page showed in the previous run, and in which of its two places."""

    identity: object = None
    rows: int = 0
    is_moved: bool = False


@dataclass(frozen=True)
class Destination:
    """A page's file, and the query of its URL."""

    page: str
    query: Mapping[str, str]


@dataclass(frozen=True)
class ModelChoice:
    """The model choice of the next message, None: unchanged; and the field that was drawn.

    `key` and `shown` are the field's key and value, None where there is no choice.
    """

    model: str | None = None
    key: str | None = None
    shown: str | None = None


@dataclass(frozen=True)
class Begun:
    """A reading call that a run began: what is asked, and its answer."""

    asked: object
    answer: Future[Any]


@dataclass
class ListedSessions:
    """One list of the sidebar as this tab has read it: the latest sessions, and older pages.

    Runs of a page overlap: one that was told to end still finishes what it reads. So a merge holds
    `lock`, and another search begins another list.
    """

    latest: list[Session] = field(default_factory=list)
    latest_cursor: str | None = None
    older: list[Session] = field(default_factory=list)
    older_cursor: str | None = None
    lock: Lock = field(default_factory=Lock)

    @property
    def cursor(self) -> str | None:
        """Return where the next older page begins; None: there is none."""
        return self.older_cursor if self.older else self.latest_cursor


@dataclass
class Notices:
    """The results of the last actions as Markdown, the failures, and when they were first drawn."""

    problem: ClientError | None = None
    said: list[str] = field(default_factory=list)
    drawn_at: float | None = None


@dataclass
class Memory:
    """One tab's memory; a reload starts a new one, so nothing here may be the only copy."""

    client: Client | None = None
    windows: dict[UUID, Window] = field(default_factory=dict)
    jumps: dict[UUID, Jump] = field(default_factory=dict)
    jump_count: int = 0
    send_key: str = field(default_factory=lambda: uuid4().hex)
    sent_text: str = ""
    choice: ModelChoice = field(default_factory=ModelChoice)
    draws: int = 0
    rows_wanted: bool = False
    composers: dict[UUID | None, str] = field(default_factory=dict)
    gone: UUID | None = None
    unsent: dict[str, str] = field(default_factory=dict)
    taken_back: dict[UUID, list[Turn]] = field(default_factory=dict)  # by session
    notices: Notices = field(default_factory=Notices)
    pinned: list[Session] = field(default_factory=list)
    listed: ListedSessions = field(default_factory=ListedSessions)
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
    teams: dict[UUID, tuple[AgentInfo, ...]] = field(default_factory=dict)
    domain_teams: dict[tuple[UUID, int], tuple[AgentInfo, ...]] = field(default_factory=dict)
    agents_cursors: list[str] = field(default_factory=list)
    turn_figures: dict[UUID, tuple[object, Any]] = field(default_factory=dict)
    own_queries: dict[UUID, Any] = field(default_factory=dict)
    server: ServerInfo | None = None
    known: dict[Hashable, Any] = field(default_factory=dict)
    begun: dict[Hashable, Begun] = field(default_factory=dict)
    is_away: bool = False
    drawn: Destination | None = None  # by the last full run
    left: list[Destination] = field(default_factory=list)  # the browser may still show one of them
    opened: Session | None = None
    server_reports: dict[UUID, ServersReport] = field(default_factory=dict)
    areas: dict[str, Area] = field(default_factory=dict)
    inspected: dict[UUID, int | None] = field(default_factory=dict)
    listed_calls: dict[UUID, int | None] = field(default_factory=dict)


_of_run: ContextVar[Client | None] = ContextVar("client of the run", default=None)
# Connections only: they hold neither cookies nor who calls.
_connections = st.cache_resource(connections)


def client() -> Client:
    """Return this tab's client, which calls as the person who is signed in.

    A tab belongs to one sign-in: the pages' server lets no other one resume it. A run may have
    begun just as its browser was away, and has no cookies then.
    """
    if (found := _of_run.get()) is not None:
        return found
    held = memory()
    if held.client is None or held.client.token is None:
        token = token_of(st.context.cookies)
        if held.client is None or token is not None:
            url = os.environ.get("API_URL") or DEFAULT_API_URL
            held.client = Client(url, token, _connections())
    return held.client


def later(call: Callable[..., T], *arguments: Any) -> Callable[[], T]:
    """Return a call to be made after this run, without a tab, as the person of this run.

    Streamlit makes a download when it is clicked, in a thread that knows nothing of who clicked.
    """
    found = client()

    def make() -> T:
        before = _of_run.set(found)
        try:
            return call(*arguments)
        finally:
            _of_run.reset(before)

    return make


def memory() -> Memory:
    """Return the memory of the tab that this run belongs to."""
    found = st.session_state.get("memory")
    if not isinstance(found, Memory):
        found = st.session_state["memory"] = Memory()
    return found


def server() -> ServerInfo:
    """Return the server's state as the frame read it in this run."""
    found = memory().server
    return found or client().server()


def known_length(session_id: UUID) -> int | None:
    """Return how many messages a session had when this tab read it last; None if it never did."""
    held = memory()
    found = [held.known.get(("session", session_id)), *held.pinned]
    found += [*held.listed.latest, *held.listed.older]
    counts = (one.message_count for one in found if one is not None and one.id == session_id)
    return max(counts, default=None)


def continue_key(session_id: UUID) -> str:
    """Return the Idempotency-Key for continuing a session: the same for both of two clicks."""
    return memory().continuing.setdefault(session_id, uuid4().hex)


def forget_continuing(session_id: UUID) -> None:
    """Forget the key when the page is drawn without a click: the next click makes a new session."""
    memory().continuing.pop(session_id, None)


def search_text() -> str:
    """Return the text of the sidebar's search."""
    return str(st.session_state.get(SEARCH) or "").strip()


def told_by(component: str, name: str) -> Any:
    """Return the value that a component's script sent; None if it has left the page since.

    The value may arrive after a switch to another page, where Streamlit no longer knows the
    component.
    """
    value = st.session_state.get(component)
    return value.get(name) if value else None


def session_list_acts() -> Any:
    """Return the session list's acts in this run, as the browser sent them."""
    return told_by(SESSION_LIST, "acts") or []


def flash(error: ClientError) -> None:
    """Keep an error from a callback for the page to show, in place of earlier notices."""
    _new_notices().problem = error


@contextmanager
def flashing() -> Iterator[None]:
    """Keep, for the page to show it, the error with which the block ends, if any."""
    try:
        yield
    except ClientError as error:
        flash(error)


def say(text: str) -> None:
    """Keep the result of an action, as Markdown, for the page to show in place of earlier ones."""
    _new_notices().said.append(text)


def notices() -> Notices:
    """Return the results of the last actions, unless the page has shown them for a while.

    If a run directly follows another, the browser may never see what the first has drawn.
    """
    held = memory()
    drawn_at = held.notices.drawn_at
    if drawn_at is not None and monotonic() - drawn_at > TOLD_SECONDS:
        held.notices = Notices()
    return held.notices


def _new_notices() -> Notices:
    held = memory()
    if held.notices.drawn_at is not None:
        held.notices = Notices()
    return held.notices


def area_moves(name: str, identity: object, rows: int) -> bool:
    """Return whether an area uses its second place in this run: it alternates with its identity."""
    areas = memory().areas
    before = areas.get(name, Area())
    differs = before.identity != identity or rows < before.rows
    areas[name] = Area(identity, rows, before.is_moved != differs)
    return areas[name].is_moved


def area_replaces(name: str, identity: object) -> bool:
    """Return whether an area showed something other than this in the previous run."""
    return memory().areas.get(name, Area()).identity not in (None, identity)
