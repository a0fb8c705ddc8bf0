"""Notices what changed elsewhere while a page is idle: another tab, another device, a worker.

A fragment asks every few seconds and draws the whole page again only when something differs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from backend.schemas.conversations.sessions import Session
from backend.schemas.operations.server import ServerInfo
from ui import navigation, state
from ui.client import ClientError

SECONDS = 4
LATEST = 30  # sessions: so many the list reads first
Stamp = tuple[Any, ...]


def rerun_every(seconds: float, differs: Callable[[], bool] = lambda: True) -> None:
    """Draw the page again after some seconds, each time that `differs` says so."""
    drawn: list[bool] = []

    @st.fragment(run_every=seconds)
    def look() -> None:
        if drawn and not navigation.is_stale() and differs():
            st.rerun()
        drawn.append(True)

    look()


def keep_fresh() -> None:
    """Draw the page again when the session list, the open session or the server has changed.

    Changed since it was read for this page, so that nothing is missed between two looks.
    """
    held = state.memory()
    opened = held.opened if held.opened and held.opened.id == navigation.open_session_id() else None
    before = _stamp(held.first, opened, state.server())

    def differs() -> bool:
        now = _look(opened)
        return now is not None and now != before

    rerun_every(SECONDS, differs)


def _look(opened: Session | None) -> Stamp | None:
    """Return how things stand; None when the service does not answer at the moment."""
    api, held = state.client(), state.memory()
    try:
        listed = api.sessions(
            limit=LATEST, q=state.search_text(), archived=held.archived, pinned=False
        ).items
        now = api.session(opened.id) if opened else None
        return _stamp(listed, now, api.server())
    except ClientError:
        return None


def _stamp(listed: Sequence[Session], opened: Session | None, server: ServerInfo) -> Stamp:
    sessions = [*listed, opened] if opened else listed
    rows = [(s.id, s.status, s.title, s.pinned, s.message_count, s.branch) for s in sessions]
    return (tuple(rows), tuple(server.missing), server.pending_approvals)
