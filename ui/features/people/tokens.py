"""The API tokens of a service account: made, listed, revoked."""

from uuid import UUID, uuid4

import streamlit as st

from backend.schemas.people.account import ApiToken
from backend.schemas.people.people import Person
from backend.schemas.people.rights import Allows
from ui import state
from ui.features.people import calls, once_shown, words
from ui.shared.formats import reader
from ui.shared.once import once
from ui.shared.text.markdown import plain

DAYS: dict[int | None, str] = {30: "30 days", 90: "90 days", 365: "One year", None: "Never"}
_ATTEMPT = "token-attempt"
_NAME, _ALLOWS, _DAYS = "token-name", "token-allows", "token-days"


def show(person: Person) -> None:
    """Draw the account's tokens, and the form of a new one."""
    st.subheader("API tokens", anchor=False)
    if person.disabled_at is None:
        _form(person)
    for token in calls.list_tokens(state.client(), person.id).items:
        _row(person, token)


def _form(person: Person) -> None:
    attempt = st.session_state[_ATTEMPT] = uuid4()
    with st.form(f"token-{person.id}", border=False):
        st.text_input("What it is for", key=_NAME, max_chars=200)
        levels = list(Allows)
        st.selectbox(
            "Allows to",
            levels,
            levels.index(Allows.ASK),
            key=_ALLOWS,
            format_func=words.allowed,
        )
        st.selectbox("Expires in", list(DAYS), 1, key=_DAYS, format_func=lambda days: DAYS[days])
        st.form_submit_button(
            "Create token", key="make-token", on_click=_make, args=(person, attempt)
        )


def _make(person: Person, attempt: UUID) -> None:
    """Make one token, however often the button is clicked before the page is drawn anew."""
    given = st.session_state
    new = {
        "name": str(given.get(_NAME) or "").strip(),
        "allows": given[_ALLOWS],
        "expires_in_days": given[_DAYS],
    }
    with state.flashing():
        made = once(("token", attempt), calls.make_token, state.client(), person.id, new)
        once_shown.keep_token(f"{person.name}: {made.name}", made.token)


def _row(person: Person, token: ApiToken) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        parts = [
            words.allowed(token.allows),
            f"used {reader.moment(token.used_at)}" if token.used_at else "never used",
            f"expires {reader.moment(token.expires_at)}" if token.expires_at else "never expires",
        ]
        if token.revoked_at is not None:
            parts.append(f"revoked {reader.moment(token.revoked_at)}")
        st.markdown(
            f"{plain(token.name, 80)} :small[:gray[{plain(' · '.join(parts), 300)}]]",
            width="content",
        )
        if token.revoked_at is None:
            st.button(
                "Revoke",
                key=f"revoke-{token.id}",
                icon=":material/link_off:",
                help="Programs that use it are refused from now on",
                on_click=_revoke,
                args=(person, token),
            )


def _revoke(person: Person, token: ApiToken) -> None:
    with state.flashing():
        calls.revoke_token(state.client(), person.id, token.id)
