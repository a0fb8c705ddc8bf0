"""One's open sign-ins: where from, and ending them."""

import re
from contextlib import suppress
from uuid import UUID

import streamlit as st

from backend.schemas.people.account import SignIn
from ui import state
from ui.client import NotFound
from ui.features.account import calls
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

WAYS = {"local": "with a password", "oidc": "with an identity provider", "proxy": "by a proxy"}
# What browsers say that they are, in the order in which they also name others.
_BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrome", "Chrome"),
             ("Safari", "Safari"))  # fmt: skip
_SYSTEMS = ("Windows", "Android", "iPhone", "iPad", "Macintosh", "Linux")


def show() -> None:
    """Draw each sign-in with its end."""
    found = calls.list_sign_ins(state.client()).items
    st.subheader("Where you are signed in", anchor=False)
    for one in found:
        _row(one)
    others = [one.id for one in found if not one.is_this]
    if len(others) > 1:
        st.button(
            "End all others", key="end-others", icon=":material/devices:",
            on_click=_end, args=(others,),
        )  # fmt: skip


def browser_words(browser: str) -> str:
    """Return e.g. Firefox on Linux, from what a browser says that it is."""
    name = next((name for sign, name in _BROWSERS if f"{sign}/" in browser), None)
    system = next((one for one in _SYSTEMS if re.search(rf"\b{one}\b", browser)), None)
    if name is None:
        return "Another program"
    return f"{name} on {'macOS' if system == 'Macintosh' else system}" if system else name


def _row(one: SignIn) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        this = " :green-badge[This one]" if one.is_this else ""
        used = reader.moment(one.used_at)
        words = [WAYS.get(one.way, plain(one.way, 40)), plain(one.address, 60), f"last used {used}"]
        st.markdown(
            f"**{browser_words(one.browser)}**{this}  \n{' · '.join(filter(None, words))}",
            width="content",
        )
        if not one.is_this:
            st.button(
                "End", key=f"end-{one.id}", help="Its pages end within seconds",
                on_click=_end, args=([one.id],),
            )  # fmt: skip


def _end(sign_in_ids: list[UUID]) -> None:
    with state.flashing():
        for one in sign_in_ids:
            with suppress(NotFound):  # ended already: a second click, or another tab
                calls.end_sign_in(state.client(), one)
