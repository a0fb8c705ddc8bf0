"""The sessions in the sidebar: pinned ones, the latest, and the older ones loaded so far."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from backend.schemas.conversations.sessions import Session, SessionPage
from ui import navigation, state
from ui.client import ServiceUnavailable
from ui.shared import last_known
from ui.shared.watch.stamp import LATEST, MOST_PINNED

OLDER = 100


@dataclass(frozen=True)
class LoadedSessions:
    """The sessions that the list shows, and the cursor of the next older page; None: no more."""

    sessions: list[Session]
    cursor: str | None


def begin() -> None:
    """Start reading what `load` reads."""
    last_known.begin(*_list(MOST_PINNED, pinned=True))
    last_known.begin(*_list(LATEST))


def begin_anew() -> None:
    """Begin the list anew: another one is shown."""
    state.memory().listed = state.ListedSessions()


def load() -> LoadedSessions:
    """Read the lists that may have changed, and combine them with the older pages."""
    held = state.memory()
    listed = held.listed  # before the search's text is read: another search has another list
    held.pinned = pinned = _read(MOST_PINNED, pinned=True).items
    page = _read(LATEST)
    with listed.lock:
        if listed.older:
            moved_down = _moved_down(listed.latest, page)
            listed.older = _newest_first([*moved_down, *listed.older], page.items)
        listed.latest, listed.latest_cursor = page.items, page.next_cursor
        older, cursor = listed.older, listed.cursor
    fresh = [*pinned, *page.items]
    _note_statuses(fresh)
    is_pinned = {session.id for session in pinned}
    return LoadedSessions([*fresh, *(one for one in older if one.id not in is_pinned)], cursor)


def load_older(cursor: str) -> None:
    """Read the next older page. Any other cursor was already used, and is ignored.

    Raise ServiceUnavailable without a change: a page that was never read is not an empty one.
    """
    listed = state.memory().listed
    if cursor != listed.cursor:
        return
    _, call = _list(OLDER, cursor=cursor)
    page = call()
    with listed.lock:
        if cursor != listed.cursor:
            return  # the latest page has moved meanwhile: the list continues from another place
        listed.older = _newest_first([*listed.older, *page.items], listed.latest)
        listed.older_cursor = page.next_cursor


def put(session: Session) -> None:
    """Update a session in the older pages, if they contain it or reach back to it."""
    held = state.memory()
    listed = held.listed
    with listed.lock:
        _drop(listed, session.id)
        if not listed.older or session.pinned or session.archived != held.archived:
            return
        if listed.older_cursor is None or session.updated_at > listed.older[-1].updated_at:
            listed.older = _newest_first([session, *listed.older], [])


def drop(session_id: UUID) -> None:
    """Remove a session that has left the list."""
    listed = state.memory().listed
    with listed.lock:
        _drop(listed, session_id)


def _drop(listed: state.ListedSessions, session_id: UUID) -> None:
    listed.latest = [session for session in listed.latest if session.id != session_id]
    listed.older = [session for session in listed.older if session.id != session_id]


def _read(limit: int, *, pinned: bool = False) -> SessionPage:
    """Read one list. If the service is unavailable and it was never read, it is empty.

    The page says why.
    """
    try:
        return last_known.read(*_list(limit, pinned=pinned))
    except ServiceUnavailable:
        if not state.memory().known:
            raise
        return SessionPage(items=[], next_cursor=None)


def _list(
    limit: int, *, pinned: bool = False, cursor: str | None = None
) -> tuple[Hashable, Callable[[], SessionPage]]:
    """Return a list's name, and the call that reads it.

    Pinned sessions come first however old, so they have a list of their own.
    """
    q, archived = state.search_text(), state.memory().archived
    call = partial(
        state.client().sessions, limit=limit, cursor=cursor, q=q, archived=archived, pinned=pinned
    )
    return ("sessions", limit, pinned, cursor, q, archived), call


def _note_statuses(sessions: Iterable[Session]) -> None:
    """Mark sessions as unread that became idle since the last drawing, except the open one."""
    held, open_id = state.memory(), navigation.open_session_id()
    for session in sessions:
        was_busy = held.statuses.get(session.id, "idle") != "idle"
        if was_busy and session.status == "idle":
            held.unread.add(session.id)
        held.statuses[session.id] = session.status
    if open_id is not None:
        held.unread.discard(open_id)


def _moved_down(before: list[Session], page: SessionPage) -> list[Session]:
    """Return the sessions that newer ones pushed off the latest page; others missing are gone."""
    if not page.items or page.next_cursor is None:
        return []
    last = page.items[-1].updated_at
    return [session for session in before if session.updated_at < last]


def _newest_first(sessions: list[Session], without: list[Session]) -> list[Session]:
    seen = {session.id for session in without}
    kept = {session.id: session for session in reversed(sessions) if session.id not in seen}
    return sorted(kept.values(), key=lambda session: session.updated_at, reverse=True)
