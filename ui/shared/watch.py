"""Notices what changed elsewhere while a page is idle: another tab, another device, a worker.

A fragment asks every few seconds and draws the whole page again only when something differs. It
holds no widgets: a fragment's own widgets would have to wait while the page follows a turn.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from ui import state
from ui.client import ClientError

SECONDS = 4


def rerun_every(seconds: float, differs: Callable[[], bool] = lambda: True) -> None:
    """Draw the page again after some seconds, each time that `differs` says so."""
    drawn: list[bool] = []

    @st.fragment(run_every=seconds)
    def look() -> None:
        if drawn and differs():
            st.rerun()
        drawn.append(True)

    look()


def note() -> None:
    """Remember how things stood before the page is drawn; what changes meanwhile is a change."""
    state.memory().drawn_from = snapshot()


def keep_fresh(look: Callable[[], object] = lambda: (), seconds: float = SECONDS) -> None:
    """Draw the page again when the session list, the open session, or what `look` gives changed.

    It gives None for what cannot be known at the moment.
    """
    before = (state.memory().drawn_from, look())

    def differs() -> bool:
        now = (snapshot(), look())
        return now != before and None not in now

    rerun_every(seconds, differs)


def snapshot() -> tuple[Any, ...] | None:
    """Return what an idle page depends on; None when the service does not answer at the moment."""
    api, open_id = state.client(), state.open_session_id()
    try:
        listed = api.sessions(limit=30).items
        if open_id is not None and all(session.id != open_id for session in listed):
            listed.append(api.session(open_id))
        server = api.server()
    except ClientError:
        return None
    rows = [(s.id, s.status, s.title, s.pinned, s.message_count, s.branch) for s in listed]
    return (tuple(rows), tuple(server.missing), server.pending_approvals)
