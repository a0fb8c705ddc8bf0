"""Teams: the list, and the dialog of one: its name, its members, and deleting it."""

from collections.abc import Sequence
from uuid import UUID, uuid4

import streamlit as st

from backend.schemas.people.people import Person, TeamDetails
from ui import state
from ui.client import ClientError
from ui.features.people import calls
from ui.shared import banners
from ui.shared.formats import reader
from ui.shared.formats.times import zone
from ui.shared.once import once
from ui.shared.text.markdown import plain

MOST_FOUND = 20
_CLOSED, _ASKED, _OPEN = "teams-closed", "asked-to-delete", "team-open"
_NAME = "team-name"


def add_form() -> None:
    """Draw the form of a new team."""
    form = st.form("new-team", border=False, clear_on_submit=True)
    with form, st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("New team", key=_NAME, max_chars=200, width=320)
        sign = ":material/group_add:"
        st.form_submit_button(
            "Create team", key="make-team", icon=sign, on_click=_add, args=(uuid4(),)
        )


def show(teams: Sequence[TeamDetails]) -> None:
    """Draw the list; a chosen team opens its dialog."""
    here = zone(st.context.timezone)
    event = st.dataframe(
        [
            {
                "Team": team.name,
                "Members": len(team.members),
                "Made": team.created_at.astimezone(here),
            }
            for team in teams
        ],
        hide_index=True,
        placeholder="",
        key=f"teams-{st.session_state.get(_CLOSED, 0)}",
        on_select="rerun",
        selection_mode="single-row",
        height="content",
        width="stretch",
        column_config={
            "Made": st.column_config.DatetimeColumn(
                format="localized", timezone=st.context.timezone
            )
        },
        alt="Teams",
    )
    st.caption("Choose a row to change a team and its members.")
    rows = event["selection"]["rows"]
    chosen = teams[rows[0]].id if rows and rows[0] < len(teams) else None
    if chosen != st.session_state.get(_OPEN):
        st.session_state.pop(_ASKED, None)
        st.session_state[_OPEN] = chosen
    if chosen is not None:
        _dialog(chosen)


def _close() -> None:
    st.session_state[_CLOSED] = st.session_state.get(_CLOSED, 0) + 1
    st.session_state[_OPEN] = None


@st.dialog("Team", icon=":material/group:", width="medium", on_dismiss=_close)
def _dialog(team_id: str) -> None:
    if st.session_state.get(_OPEN) is None:
        st.rerun()
    banners.what_happened()
    try:
        found = [one for one in calls.list_teams(state.client()) if one.id == team_id]
    except ClientError as problem:
        banners.error(problem)
        return
    if not found:
        st.info("This team was deleted.")
        return
    (team,) = found
    if st.session_state.get(_ASKED):
        _confirm(team)
        return
    _name(team)
    st.caption(f"Its id, by which groups of identity providers name it: `{team.id}`")
    _members(team)
    st.button(
        "Delete…",
        key="delete-team",
        icon=":material/delete:",
        on_click=st.session_state.__setitem__,
        args=(_ASKED, True),
    )


def _name(team: TeamDetails) -> None:
    form = st.form(f"rename-{team.id}", border=False)
    with form, st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Name", team.name, key=f"rename-to-{team.id}", max_chars=200)
        st.form_submit_button("Rename", key="rename-team", on_click=_rename, args=(team,))


def _members(team: TeamDetails) -> None:
    st.markdown(f"**{reader.counted(len(team.members), 'member')}**")
    page = calls.list_people(state.client(), "", None, calls.MAX_PAGE, team=team.id)
    for person in page.items:
        with st.container(
            horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
        ):
            st.markdown(_named(person), width="content")
            st.button(
                "Remove",
                key=f"remove-{person.id}",
                icon=":material/person_remove:",
                on_click=_set,
                args=(team, person, False),
            )
    if page.next_cursor:
        st.caption(f"Showing the first {reader.number(len(page.items))}.")
    _add_member(team)


def _add_member(team: TeamDetails) -> None:
    q = st.text_input(
        "Add a member",
        key=f"find-member-{team.id}",
        type="search",
        icon=":material/search:",
        placeholder="Name, login or email",
        live="300ms",
    )
    if not (q or "").strip():
        return
    found = calls.list_people(state.client(), q.strip(), None, MOST_FOUND).items
    others = [person for person in found if person.id not in team.members]
    if not others:
        st.caption("Nobody else matches.")
    for person in others:
        st.button(
            f"Add {_named(person)}",
            key=f"add-{person.id}",
            icon=":material/person_add:",
            type="tertiary",
            on_click=_set,
            args=(team, person, True),
        )


def _confirm(team: TeamDetails) -> None:
    st.markdown(f"Delete **{plain(team.name, 200)}**?")
    st.caption(
        "Its members lose what was granted to the team. People, and what is theirs, stay. A team"
        " that owns sessions cannot be deleted."
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button("Keep", key="keep-team", on_click=st.session_state.pop, args=(_ASKED, None))
        st.button(
            "Delete",
            key="confirm-delete",
            type="primary",
            icon=":material/delete:",
            on_click=_delete,
            args=(team,),
        )


def _add(attempt: UUID) -> None:
    """Make one team, however often the button is clicked before the page is drawn anew."""
    name = str(st.session_state.get(_NAME) or "").strip()
    with state.flashing():
        once(("team", attempt), calls.add_team, state.client(), name)


def _rename(team: TeamDetails) -> None:
    name = str(st.session_state.get(f"rename-to-{team.id}") or "").strip()
    if name == team.name:
        return
    with state.flashing():
        calls.rename_team(state.client(), team.id, name)
        state.say(f"{plain(team.name, 200)} is {plain(name, 200)} now.")
        _close()


def _delete(team: TeamDetails) -> None:
    with state.flashing():
        calls.delete_team(state.client(), team.id)
        state.say(f"{plain(team.name, 200)} was deleted.")
        _close()


def _set(team: TeamDetails, person: Person, is_member: bool) -> None:
    with state.flashing():
        calls.set_member(state.client(), team.id, person.id, is_member=is_member)


def _named(person: Person) -> str:
    about = person.login or ("service account" if person.is_service else "")
    return f"{plain(person.name, 80)} :small[:gray[{plain(about, 80)}]]"
