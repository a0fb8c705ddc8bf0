"""What one browser tab remembers, on any page. Its location is in `ui.navigation`."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import streamlit as st

from backend.logs.fields import add_fields, request_id
from backend.schemas.domains.servers import ServersReport
from backend.schemas.operations.server import ServerInfo
from backend.web.request_ids import new_id
from ui.client import Client, ClientError, ServiceUnavailable, api_servers, connections
from ui.cookies import token_of

TOLD_SECONDS = 3.0  # how long a notice is drawn again: a run may be cut off by the next one


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
    server: ServerInfo | None = None
    notices: Notices = field(default_factory=Notices)
    done: dict[Hashable, Any] = field(default_factory=dict)
    acting: Lock = field(default_factory=Lock)
    continuing: dict[UUID, str] = field(default_factory=dict)
    made: dict[str, int] = field(default_factory=dict)  # how many of what, to empty its fields
    shown_once: dict[str, Any] = field(default_factory=dict)  # secrets, by their place
    cursors: list[str] = field(default_factory=list)
    agents_cursors: list[str] = field(default_factory=list)
    expanded: set[str] = field(default_factory=set)
    own_queries: dict[UUID, Any] = field(default_factory=dict)
    server_reports: dict[UUID, ServersReport] = field(default_factory=dict)
    inspected: dict[UUID, int | None] = field(default_factory=dict)
    listed_calls: dict[UUID, int | None] = field(default_factory=dict)


# Within `flashing`, the tab's memory: see there.
_acting: ContextVar[Memory | None] = ContextVar("acting", default=None)
# Connections only: they hold neither cookies nor who calls.
_connections = st.cache_resource(connections)


def client() -> Client:
    """Return this tab's client, which calls as the person who is signed in.

    A tab belongs to one sign-in: the pages' server lets no other one resume it. A run may have
    begun just as its browser was away, and has no cookies then.
    """
    held = memory()
    if request_id() is None:  # a part of the page is drawn, without the frame around it
        name_run()
    if held.client is None or held.client.token is None:
        token = token_of(st.context.cookies)
        if held.client is None or token is not None:
            servers = api_servers()
            held.client = Client(servers, token, _connections(servers))
    return held.client


def name_run() -> None:
    """Give what this run asks of the API, and what it logs, an id of its own."""
    add_fields(request=new_id())


def memory() -> Memory:
    """Return the memory of the tab that this run belongs to."""
    if held := _acting.get():
        return held
    found = st.session_state.get("memory")
    if not isinstance(found, Memory):
        found = st.session_state["memory"] = Memory()
    return found


def read_server() -> None:
    """Read the server's state for this run; while it is away, what was read last holds."""
    held = memory()
    try:
        held.server = client().server()
    except ServiceUnavailable:
        if held.server is None:
            raise


def server() -> ServerInfo:
    """Return the server's state as the frame read it in this run."""
    found = memory().server
    return found or client().server()


def continue_key(session_id: UUID) -> str:
    """Return the Idempotency-Key for continuing a session: the same for both of two clicks."""
    return memory().continuing.setdefault(session_id, uuid4().hex)


def forget_continuing(session_id: UUID) -> None:
    """Forget the key when the page is drawn without a click: the next click makes a new session."""
    memory().continuing.pop(session_id, None)


def flash(error: ClientError) -> None:
    """Keep an error from a callback for the page to show, in place of earlier notices."""
    _new_notices().problem = error


@contextmanager
def flashing() -> Iterator[None]:
    """Keep, for the page to show it, the error with which the block ends, if any.

    At each touch of its session state, Streamlit may break a callback off for the next click. So
    what follows an act in the block keeps its results in the tab's memory, which is at hand there.
    """
    mark = _acting.set(memory())
    try:
        yield
    except ClientError as error:
        flash(error)
    finally:
        _acting.reset(mark)


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
