"""The API tokens of an account, by which programs ask: made, shown once, revoked."""

from datetime import UTC, datetime

import streamlit as st

from backend.schemas.people.account import MAX_NAME_CHARS, ApiToken, NewToken
from backend.schemas.people.rights import Allows
from ui import state
from ui.client import ClientError
from ui.features.tokens import calls
from ui.shared.formats import reader
from ui.shared.once import once
from ui.shared.text.markdown import plain

ALLOWS = {
    Allows.READ: "Read",
    Allows.ASK: "Ask: begin sessions, send messages, decide, upload",
    Allows.MANAGE: "Everything that the account may do",
}
LASTS = {30: "30 days", 90: "90 days", 365: "A year", None: "Does not expire"}
MADE = "token"


def show(account: str, *, may_last: bool, is_disabled: bool = False) -> None:
    """Draw the tokens that count, the fields for a new one, and those that have ended.

    `account`: its path in the API; `may_last`: tokens need not expire.
    """
    st.subheader("API tokens", anchor=False)
    st.caption(
        "A program sends one as `Authorization: Bearer …` and acts in the name of the account, as"
        " far as the token allows."
    )
    _made(account)
    found = calls.list_tokens(state.client(), account).items
    valid = [one for one in found if _is_valid(one)]
    for one in valid:
        _row(account, one)
    if not is_disabled:
        _new(account, may_last=may_last)
    ended = [one for one in found if one not in valid]
    if ended:
        with st.expander(f"Ended tokens ({reader.number(len(ended))})"):
            for one in ended:
                st.caption(f"{plain(one.name, 100)} · {_end_of(one)}")


def _new(account: str, *, may_last: bool) -> None:
    """Draw the fields; those of a token that was made are not those of the next one."""
    number = state.memory().made.get(MADE, 0)
    with st.form(f"new-token-{number}", border=True):
        st.text_input(
            "Name", key=f"token-name-{number}", max_chars=MAX_NAME_CHARS,
            placeholder="What it is for",
        )  # fmt: skip
        st.selectbox(
            "Allows", list(ALLOWS), key=f"token-allows-{number}", index=1,
            format_func=ALLOWS.__getitem__,
        )  # fmt: skip
        st.selectbox(
            "Expires", [days for days in LASTS if days or may_last],
            key=f"token-lasts-{number}", index=1, format_func=LASTS.__getitem__,
        )  # fmt: skip
        st.form_submit_button(
            "Create token", icon=":material/key:", on_click=_create, args=(account, number)
        )


def _made(account: str) -> None:
    """Show a token that was just made, until it is dismissed."""
    of, token = state.memory().shown_once.get(MADE, ("", ""))
    if of == account:
        with st.container(border=True, key="token-shown-once"):
            st.markdown("**Copy the token now. It will not be shown again.**")
            st.code(token, None, wrap_lines=True)
            st.button("Done", key="token-done", on_click=_forget)


def _row(account: str, one: ApiToken) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        used = f"last used {reader.moment(one.used_at)}" if one.used_at else "not used yet"
        words = (ALLOWS[one.allows].partition(":")[0], _end_of(one), used)
        st.markdown(f"**{plain(one.name, 100)}**  \n{' · '.join(words)}", width="content")
        st.button(
            "Revoke", key=f"revoke-{one.id}", help="Programs that use it are refused from now on",
            on_click=_revoke, args=(account, one),
        )  # fmt: skip


def _is_valid(one: ApiToken) -> bool:
    return one.revoked_at is None and (one.expires_at is None or one.expires_at > datetime.now(UTC))


def _end_of(one: ApiToken) -> str:
    if one.revoked_at is not None:
        return f"revoked {reader.moment(one.revoked_at)}"
    if one.expires_at is None:
        return "does not expire"
    ends = reader.day(one.expires_at.date())
    return f"expires on {ends}" if _is_valid(one) else f"expired on {ends}"


def _create(account: str, number: int) -> None:
    with state.flashing():
        once(("token", number), _ask, account, number, _written(number))


def _written(number: int) -> NewToken:
    """Return what the fields say. Raise ClientError if that is no token."""
    written = st.session_state
    name = str(written.get(f"token-name-{number}") or "").strip()
    if not name:
        raise ClientError("A token needs a name", "Say what it is for.")
    allows, lasts = (written[f"token-{field}-{number}"] for field in ("allows", "lasts"))
    return NewToken(name=name, allows=allows, expires_in_days=lasts)


def _ask(account: str, number: int, new: NewToken) -> None:
    """Have a token made; its text is nowhere but on the page."""
    made = calls.make_token(state.client(), account, new)
    held = state.memory()
    held.shown_once[MADE] = (account, made.token)
    held.made[MADE] = number + 1


def _revoke(account: str, one: ApiToken) -> None:
    with state.flashing():
        calls.revoke_token(state.client(), account, one.id)
        state.say(f"The token {plain(one.name, 100)} was revoked.")


def _forget() -> None:
    state.memory().shown_once.pop(MADE, None)
