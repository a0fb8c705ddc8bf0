"""The list of people and service accounts: search, rows and pages."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from backend.schemas.people.people import People, Person
from ui import state
from ui.features.people import calls, words
from ui.shared import pager
from ui.shared.formats.times import zone

_CLOSED, _CURSORS = "people-closed", "people-cursors"


def search() -> str:
    """Draw the search; a change goes back to the first page."""
    q = st.text_input(
        "Search",
        key="people-search",
        type="search",
        icon=":material/search:",
        placeholder="Name, login or email",
        label_visibility="collapsed",
        live="300ms",
        on_change=_first_page,
    )
    return (q or "").strip()


def load(q: str) -> People:
    """Return the page of the list that is open."""
    places = cursors()
    return calls.list_people(state.client(), q, places[-1] if places else None)


def show(page: People, teams: Mapping[str, str]) -> Person | None:
    """Draw a page of rows; return the one that was just chosen. `teams`: their names."""
    event = st.dataframe(
        [_cells(person, teams) for person in page.items],
        hide_index=True,
        placeholder="",
        key=f"people-{len(cursors())}-{st.session_state.get(_CLOSED, 0)}",
        on_select="rerun",
        selection_mode="single-row",
        height="content",
        width="stretch",
        column_config={
            "Last seen": st.column_config.DatetimeColumn(
                format="distance", timezone=st.context.timezone
            )
        },
        alt="People and service accounts",
    )
    st.caption("Choose a row to change a person, or to see their tokens.")
    rows = event["selection"]["rows"]
    return page.items[rows[0]] if rows and rows[0] < len(page.items) else None


def unselect() -> None:
    """Draw the list without a chosen row from now on."""
    st.session_state[_CLOSED] = st.session_state.get(_CLOSED, 0) + 1


def paging(page: People) -> None:
    """Draw the buttons for the next and the previous page."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        pager.by_cursor(cursors(), page.next_cursor, "people", ("Back", "More"))


def _cells(person: Person, teams: Mapping[str, str]) -> dict[str, Any]:
    here = zone(st.context.timezone)
    return {
        "Name": person.name,
        "Signs in as": person.login,
        "State": words.state_of(person),
        "Role": words.role(person.role),
        "Teams": ", ".join(teams.get(team, team) for team in person.teams),
        "Last seen": person.seen_at.astimezone(here) if person.seen_at else None,
        "Email": person.email,
        "Organisation": person.organisation,
    }


def cursors() -> list[str]:
    """Return the places of the pages that were passed."""
    found: list[str] = st.session_state.setdefault(_CURSORS, [])
    return found


def _first_page() -> None:
    cursors().clear()
