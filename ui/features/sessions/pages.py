"""The sessions in the sidebar: pinned ones, the latest, and the older ones loaded so far."""

from collections.abc import Iterable
from dataclasses import dataclass
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


def load() -> LoadedSessions:
    """Read the lists that may have changed, and combine them with the older pages."""
    pinned = _read(MOST_PINNED, pinned=True).items
    page = _read(LATEST)
    held = state.memory()
    if held.older:
        held.older = _newest_first([*_moved_down(held.first, page), *held.older], page.items)
    held.first, held.first_cursor = page.items, page.next_cursor
    held.pinned = pinned
    fresh = [*pinned, *page.items]
    _note_statuses(fresh)
    is_pinned = {session.id for session in pinned}
    older = [session for session in held.older if session.id not in is_pinned]
    return LoadedSessions([*fresh, *older], held.older_cursor if held.older else page.next_cursor)


def load_older(cursor: str) -> None:
    """Read the next older page. Any other cursor was already used, and is ignored."""
    held = state.memory()
    if cursor != (held.older_cursor if held.older else held.first_cursor):
        return
    page = _read(OLDER, cursor=cursor)
    held.older = _newest_first([*held.older, *page.items], held.first)
    held.older_cursor = page.next_cursor


def put(session: Session) -> None:
    """Update a session in the older pages, if they contain it or reach back to it."""
    held = state.memory()
    drop(session.id)
    if not held.older or session.pinned or session.archived != held.archived:
        return
    if held.older_cursor is None or session.updated_at > held.older[-1].updated_at:
        held.older = _newest_first([session, *held.older], [])


def drop(session_id: UUID) -> None:
    """Remove a session that has left the list."""
    held = state.memory()
    held.first = [session for session in held.first if session.id != session_id]
    held.older = [session for session in held.older if session.id != session_id]


def _read(limit: int, *, pinned: bool = False, cursor: str | None = None) -> SessionPage:
    """Read one list. Pinned sessions come first however old, so they have a list of their own.

    If the service is unavailable and this list was never read, it is empty: the page says why.
    """
    shown = (state.search_text(), state.memory().archived)
    try:
        return last_known.read(
            ("sessions", limit, pinned, cursor, shown),
            state.client().sessions,
            limit=limit,
            cursor=cursor,
            q=state.search_text(),
            archived=state.memory().archived,
            pinned=pinned,
        )
    except ServiceUnavailable:
        if not state.memory().known:
            raise
        return SessionPage(items=[], next_cursor=None)


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
