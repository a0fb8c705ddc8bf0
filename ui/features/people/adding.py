"""The dialogs that invite a person and make a service account."""

from collections.abc import Callable
from uuid import uuid4

import streamlit as st

from backend.schemas.people.people import Invited
from backend.schemas.people.rights import Role
from backend.types import JSON
from ui import state
from ui.features.people import calls, once_shown, words
from ui.shared import banners
from ui.shared.once import once
from ui.shared.text.markdown import plain

_OPEN, _ATTEMPT = "adding", "adding-attempt"
NAME, LOGIN, EMAIL, ROLE, ORGANISATION = (
    f"new-{field}" for field in ("name", "login", "email", "role", "organisation")
)


def buttons() -> None:
    """Draw the buttons that open the dialogs."""
    with st.container(horizontal=True):
        st.button(
            "Invite a person",
            key="invite",
            type="primary",
            icon=":material/person_add:",
            on_click=_open,
            args=("invitation",),
        )
        st.button(
            "Create a service account",
            key="make-account",
            icon=":material/smart_toy:",
            on_click=_open,
            args=("account",),
        )


def is_open() -> bool:
    """Open the dialog that was asked for, also when the page is drawn meanwhile."""
    opened = st.session_state.get(_OPEN)
    if opened is None:
        return False
    _DIALOGS[opened]()
    return True


def _open(dialog: str) -> None:
    once_shown.forget()
    st.session_state[_OPEN] = dialog
    st.session_state[_ATTEMPT] = uuid4()


def _close() -> None:
    st.session_state.pop(_OPEN, None)


@st.dialog("Invite a person", icon=":material/person_add:", on_dismiss=_close)
def _invite() -> None:
    banners.what_happened()
    if once_shown.show():
        return
    with st.form("invitation", border=False):
        st.text_input("Name", key=NAME, max_chars=200)
        st.text_input(
            "Signs in as", key=LOGIN, max_chars=200, help="Leave it empty to let them choose."
        )
        st.text_input("Email", key=EMAIL, max_chars=200)
        _role()
        st.text_input("Organisation", key=ORGANISATION, max_chars=200)
        st.form_submit_button("Invite", type="primary", key="send-invitation", on_click=_invited)


@st.dialog("Create a service account", icon=":material/smart_toy:", on_dismiss=_close)
def _make_account() -> None:
    banners.what_happened()
    st.caption("A program calls the API with its tokens. It has no password and cannot sign in.")
    with st.form("account", border=False):
        st.text_input("Name", key=NAME, max_chars=200)
        _role()
        sent = st.form_submit_button(
            "Create account", type="primary", key="send-account", on_click=_made
        )
    if sent and _OPEN not in st.session_state:
        st.rerun()


def _role() -> None:
    st.selectbox("Role", list(Role), key=ROLE, format_func=words.role, help=words.ROLE_HELP)


def _invited() -> None:
    """Invite the person, once for however many clicks in one dialog."""
    given = {field: _typed(key) or None for field, key in _OPTIONAL.items()}
    added = _add({"name": _typed(NAME), "role": st.session_state[ROLE], **given})
    if added is not None and added.link_token is not None:
        once_shown.keep_link(added.person.name, added.link_token, added.mailed)


def _made() -> None:
    added = _add({"name": _typed(NAME), "role": st.session_state[ROLE], "is_service": True})
    if added is not None:
        state.say(
            f"{plain(added.person.name, 200)} was created. Choose it in the list to create a token."
        )
        _close()


def _add(new: JSON) -> Invited | None:
    """Add a person; None: the service refused, and the page says why."""
    with state.flashing():
        attempt = ("person", st.session_state.get(_ATTEMPT))
        added: Invited = once(attempt, calls.add_person, state.client(), new)
        return added
    return None


def _typed(key: str) -> str:
    return str(st.session_state.get(key) or "").strip()


_OPTIONAL = {"login": LOGIN, "email": EMAIL, "organisation": ORGANISATION}
_DIALOGS: dict[str, Callable[[], object]] = {"invitation": _invite, "account": _make_account}
