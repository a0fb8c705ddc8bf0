"""The administrators' table of sessions: filters, rows, and pages by cursor."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from backend.schemas.conversations.sessions import SessionPage
from backend.schemas.conversations.turns import TurnStatus
from ui import navigation, state
from ui.shared import pager
from ui.shared.formats.times import zone

PAGE_ROWS = 50
TITLE_WIDTH = 280  # pixels: with it, all columns are seen in a window of 1280
STATUSES = {
    "running": TurnStatus.RUNNING,
    "queued": TurnStatus.QUEUED,
    "waiting": TurnStatus.WAITING,
    "idle": "idle",
}


@dataclass(frozen=True)
class Filters:
    """The filters of the table."""

    title: str
    status: str | None
    archived: bool

    @property
    def are_set(self) -> bool:
        """Whether any filter is set."""
        return bool(self.title or self.status or self.archived)


def filters() -> Filters:
    """Draw the filters; a change goes back to the first page."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        title = st.text_input(
            "Title",
            key="all-title",
            type="search",
            icon=":material/search:",
            placeholder="Search by title",
            live="300ms",
            on_change=_first_page,
        )
        archived = st.toggle("Archived", key="all-archived", on_change=_first_page)
    status = st.pills(
        "Status",
        list(STATUSES),
        key="all-status",
        format_func=str.capitalize,
        on_change=_first_page,
    )
    return Filters((title or "").strip(), STATUSES[status] if status else None, archived)


def load(chosen: Filters) -> SessionPage:
    """Return one page of the sessions of all owners."""
    cursors = state.memory().cursors
    return state.client().sessions(
        limit=PAGE_ROWS,
        cursor=cursors[-1] if cursors else None,
        q=chosen.title,
        status=chosen.status,
        archived=chosen.archived,
        everyone=True,
    )


def show(page: SessionPage, user: str) -> None:
    """Draw a page of rows; a chosen one is opened, read-only unless it is the user's own."""
    event = st.dataframe(
        to_frame(page),
        hide_index=True,
        key=f"all-sessions-{len(state.memory().cursors)}",
        on_select="rerun",
        selection_mode="single-row",
        height="content",
        column_config={
            "Title": st.column_config.TextColumn(width=TITLE_WIDTH),
            "Last activity": st.column_config.DatetimeColumn(
                format="distance", timezone=st.context.timezone
            ),
        },
        alt="All sessions",
    )
    st.caption("Choose a row to open its session; other people's sessions are read-only.")
    if rows := event["selection"]["rows"]:
        session = page.items[rows[0]]
        navigation.go_to_session(session.id, read_only=session.owner != user)


def to_frame(page: SessionPage) -> pd.DataFrame:
    """Return the rows of the table."""
    here = zone(st.context.timezone)
    return pd.DataFrame(
        {
            "Title": [session.title or "New chat" for session in page.items],
            "Owner": [session.owner for session in page.items],
            "Status": [session.status.capitalize() for session in page.items],
            "Turns": [session.turn_count for session in page.items],
            "Messages": [session.message_count for session in page.items],
            "Last activity": [session.updated_at.astimezone(here) for session in page.items],
            "Domain": [session.domain for session in page.items],
        }
    )


def paging(page: SessionPage) -> None:
    """Draw the buttons for the next and the previous page."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        pager.by_cursor(state.memory().cursors, page.next_cursor, "sessions", ("Newer", "Older"))


def empty_text(chosen: Filters) -> str:
    """Return the sentence for an empty table."""
    if chosen.are_set:
        return "No sessions match. Remove a filter to see more."
    return "No sessions yet. Each conversation appears here once it starts."


def _first_page() -> None:
    state.memory().cursors.clear()
