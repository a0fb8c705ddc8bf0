"""The dialog of one person: their details, links, tokens, and switching them off."""

from uuid import uuid4

import streamlit as st

from backend.schemas.people.people import Person
from backend.schemas.people.rights import Role
from backend.types import JSON
from ui import state
from ui.client import ClientError
from ui.features.people import calls, once_shown, table, words
from ui.features.tokens import section as tokens
from ui.shared import banners
from ui.shared.formats import reader
from ui.shared.once import once
from ui.shared.text.markdown import plain

_ASKED, _LINK, _OPEN = "asked-to-disable", "link-attempt", "person-open"


def open_dialog(person: Person) -> None:
    """Open the dialog of a person who is chosen in the list; the page may be drawn meanwhile."""
    if st.session_state.get(_OPEN) != person.id:
        once_shown.forget()
        st.session_state.pop(_ASKED, None)
        st.session_state[_LINK] = uuid4()
        st.session_state[_OPEN] = person.id
    _dialog(person.id)


def closed() -> None:
    """Note that nobody is chosen."""
    st.session_state.pop(_OPEN, None)


def _close() -> None:
    table.unselect()
    closed()


@st.dialog("Person", icon=":material/person:", width="medium", on_dismiss=_close)
def _dialog(user_id: str) -> None:
    if _OPEN not in st.session_state:
        st.rerun()
    banners.what_happened()
    try:
        person = calls.get_person(state.client(), user_id)
    except ClientError as problem:
        banners.error(problem)
        return
    st.markdown(f"**{plain(person.name, 200)}** :small[:gray[{_about(person)}]]")
    if once_shown.show():
        return
    if st.session_state.get(_ASKED):
        _confirm(person)
        return
    _details(person)
    _actions(person)
    if person.is_service:
        is_disabled = person.disabled_at is not None
        tokens.show(calls.path_of(person.id), may_last=True, is_disabled=is_disabled)


def _about(person: Person) -> str:
    made = f"since {reader.moment(person.created_at)}"
    seen = f"seen {reader.moment(person.seen_at)}" if person.seen_at else "never seen"
    return plain(" · ".join([words.state_of(person), made, seen]), 300)


def _details(person: Person) -> None:
    with st.form(f"person-{person.id}", border=False):
        st.text_input("Name", person.name, key=f"name-{person.id}", max_chars=200)
        if not person.is_service:
            st.text_input("Email", person.email or "", key=f"email-{person.id}", max_chars=200)
        st.selectbox(
            "Role",
            list(Role),
            list(Role).index(person.role),
            key=f"role-{person.id}",
            format_func=words.role,
            help=words.ROLE_HELP,
        )
        st.text_input(
            "Organisation",
            person.organisation or "",
            key=f"organisation-{person.id}",
            max_chars=200,
        )
        st.form_submit_button(
            "Save", type="primary", key=f"save-{person.id}", on_click=_save, args=(person,)
        )


def _actions(person: Person) -> None:
    is_enabled = person.disabled_at is None
    with st.container(horizontal=True):
        if not person.is_service and is_enabled:
            st.button(
                "Create an invitation link" if person.is_invited else "Create a reset link",
                key=f"link-{person.id}",
                icon=":material/link:",
                on_click=_make_link,
                args=(person,),
            )
        if not is_enabled:
            st.button(
                "Enable",
                key=f"enable-{person.id}",
                icon=":material/person_check:",
                on_click=_change,
                args=(person, {"disabled": False}, "may sign in again."),
            )
        else:
            st.button(
                "Disable…",
                key=f"disable-{person.id}",
                icon=":material/person_off:",
                on_click=st.session_state.__setitem__,
                args=(_ASKED, True),
            )


def _confirm(person: Person) -> None:
    """Ask for confirmation: running turns end, and tokens are not restored."""
    st.markdown(f"Disable **{plain(person.name, 200)}**?")
    st.caption(words.DISABLING)
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button("Keep", key="keep-person", on_click=st.session_state.pop, args=(_ASKED, None))
        st.button(
            "Disable",
            key="disable-person",
            type="primary",
            icon=":material/person_off:",
            on_click=_change,
            args=(person, {"disabled": True}, "is disabled."),
        )


def _save(person: Person) -> None:
    given: JSON = {
        field: str(st.session_state.get(f"{field}-{person.id}") or "").strip() or None
        for field in ("name", "email", "organisation")
    }
    if person.is_service:
        given.pop("email")
    given["name"] = given["name"] or ""
    given["role"] = st.session_state[f"role-{person.id}"]
    changed = {field: value for field, value in given.items() if value != getattr(person, field)}
    _change(person, changed, "was saved.")


def _make_link(person: Person) -> None:
    """Make one link, however often the button of one dialog is clicked."""
    with state.flashing():
        attempt = ("reset link", st.session_state.get(_LINK))
        made = once(attempt, calls.make_reset_link, state.client(), person.id)
        once_shown.keep_link(person.name, made.link_token, made.mailed)


def _change(person: Person, change: JSON, said: str) -> None:
    with state.flashing():
        calls.change_person(state.client(), person.id, change)
        state.say(f"{plain(person.name, 200)} {said}")
        _close()
