"""The reviewers' table of everyone's sessions: filters, rows, pages by cursor, and a file."""

from typing import Any

import streamlit as st

from backend.schemas.conversations.sessions import Session, SessionFigures, SessionPage
from backend.schemas.conversations.turns import TurnStatus
from backend.schemas.people.rights import SessionRights
from ui import navigation, state
from ui.features.domains.calls import list_domains
from ui.features.sessions import everyone
from ui.features.sessions.everyone import Wanted
from ui.shared import days, downloads, pager
from ui.shared.formats.times import zone

TITLE_WIDTH = 155  # pixels: with it and the next, all columns are seen in a window of 1280
FIGURE_WIDTH = 62
STATUSES = {
    "running": TurnStatus.RUNNING,
    "queued": TurnStatus.QUEUED,
    "waiting": TurnStatus.WAITING,
    "idle": "idle",
}


def filters() -> Wanted:
    """Draw the filters; a change goes back to the first page."""
    has_accounts = state.server().has_accounts
    with st.container(horizontal=True, vertical_alignment="bottom"):
        title = _text("Title", "all-title", "Words of the title")
        owner = _text("Owner", "all-owner", "Name or login") if has_accounts else ""
        team = _text("Team", "all-team", "Name") if has_accounts else ""
        domain = _domain()
        since, until = days.field("all-days", _first_page)
    with st.container(horizontal=True, vertical_alignment="center"):
        status = st.pills(
            "Status",
            list(STATUSES),
            key="all-status",
            format_func=str.capitalize,
            label_visibility="collapsed",
            on_change=_first_page,
            width="content",
        )
        has_errors = _toggle("With errors", "all-errors")
        has_thumbs_down = _toggle("Disliked answers", "all-disliked")
        archived = _toggle("Archived", "all-archived")
    return Wanted(
        title=title,
        owner=owner,
        team=team,
        domain=domain,
        status=STATUSES[status] if status else None,
        archived=archived,
        has_errors=has_errors,
        has_thumbs_down=has_thumbs_down,
        since=since,
        until=until,
    )


def load(wanted: Wanted) -> SessionPage:
    """Return the open page of the sessions of all owners."""
    cursors = state.memory().cursors
    return everyone.list_sessions(state.client(), wanted, cursors[-1] if cursors else None)


def show(page: SessionPage) -> None:
    """Draw a page of rows; a chosen one is opened, to be read only unless one may write there."""
    here = st.context.timezone
    event = st.dataframe(
        [_cells(session) for session in page.items],
        hide_index=True,
        placeholder="",
        key=f"all-sessions-{len(state.memory().cursors)}",
        on_select="rerun",
        selection_mode="single-row",
        height="content",
        width="stretch",
        column_config={
            "Title": st.column_config.TextColumn(width=TITLE_WIDTH),
            "Turns": st.column_config.NumberColumn(width=FIGURE_WIDTH),
            "Errors": st.column_config.NumberColumn(width=FIGURE_WIDTH),
            "Last activity": st.column_config.DatetimeColumn(format="distance", timezone=here),
            "Tokens": st.column_config.NumberColumn(format="localized", width=FIGURE_WIDTH),
            "Cost": st.column_config.NumberColumn(format="localized", step=0.0001),
        },
        alt="All sessions",
    )
    st.caption("Choose a row to open its session; other people's sessions are read-only.")
    if rows := event["selection"]["rows"]:
        session = page.items[rows[0]]
        navigation.go_to_session(session.id, read_only=session.rights is SessionRights.READ)


def elsewhere(wanted: Wanted) -> None:
    """Draw the way to the search in what was said, and the link to the list as a file."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(
            navigation.SEARCH_PAGE,
            label="Search in messages",
            icon=":material/search:",
            query_params={"of-everyone": "true"},
        )
        downloads.link("Download as CSV", "sessions/csv", wanted.params())


def paging(page: SessionPage) -> None:
    """Draw the buttons for the next and the previous page."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        pager.by_cursor(state.memory().cursors, page.next_cursor, "sessions", ("Newer", "Older"))


def empty_text(wanted: Wanted) -> str:
    """Return the sentence for an empty table."""
    if wanted.is_narrow:
        return "No sessions match. Remove a filter to see more."
    return "No sessions yet. Each conversation appears here once it starts."


def _cells(session: Session) -> dict[str, Any]:
    figures = session.figures or SessionFigures(
        team=None, agent=None, tokens=0, cost=0, errors=0, thumbs_up=0, thumbs_down=0
    )
    here = zone(st.context.timezone)
    cells = {
        "Title": session.title or "New chat",
        "Owner": session.owner_name or session.owner,
        "Team": figures.team,
        "Domain": session.domain,
        "Agent": figures.agent,
        "Status": session.status.capitalize(),
        "Last activity": session.updated_at.astimezone(here),
        "Turns": session.turn_count,
        "Tokens": figures.tokens,
        "Cost": figures.cost or None,  # a model without a price costs nothing that is known
        "Errors": figures.errors or None,
        "Feedback": _feedback(figures),
    }
    if not state.server().has_accounts:
        del cells["Owner"], cells["Team"]
    return cells


def _feedback(figures: SessionFigures) -> str | None:
    counts = ((figures.thumbs_up, "up"), (figures.thumbs_down, "down"))
    return ", ".join(f"{count} {name}" for count, name in counts if count) or None


def _text(label: str, key: str, placeholder: str) -> str:
    given = st.text_input(
        label,
        key=key,
        type="search",
        placeholder=placeholder,
        max_chars=200,
        live="300ms",
        on_change=_first_page,
        width=160,
    )
    return (given or "").strip()


def _domain() -> str | None:
    names = [domain.name for domain in list_domains(state.client())]
    return st.selectbox(
        "Domain",
        names,
        index=None,
        key="all-domain",
        placeholder="All",
        accept_new_options=True,  # a reviewer may not use all that others do
        on_change=_first_page,
        width=160,
    )


def _toggle(label: str, key: str) -> bool:
    return st.toggle(label, key=key, on_change=_first_page)


def _first_page() -> None:
    state.memory().cursors.clear()
