"""The links by which others read a session: made, listed with their states, and revoked."""

from urllib.parse import urlsplit
from uuid import UUID

import streamlit as st

from backend.schemas.conversations.links import LINK_DAYS, MAX_LINK_DAYS, LinkState, SessionLink
from ui import navigation, state
from ui.features.links import calls
from ui.shared.formats import reader

_MADE = "made-link"
_DAYS = "link-days"


def begin() -> None:
    """Forget the link that was made when the dialog was last open."""
    st.session_state.pop(_MADE, None)


def show(session_id: UUID) -> None:
    """Draw the links of a session, and how to make another one."""
    st.caption(
        "Anyone who has the link and access to this installation can read the session: messages, "
        "steps, tables and charts, including future ones. They cannot write or approve anything."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        days = st.number_input(
            "Days it is valid", 1, MAX_LINK_DAYS, LINK_DAYS, key=_DAYS, width=140
        )
        st.button(
            "Make a link",
            key="make-link",
            type="primary",
            icon=":material/add_link:",
            on_click=_make,
            args=(session_id, int(days)),
        )
    if url := st.session_state.get(_MADE):
        st.code(url, None, wrap_lines=True)
        st.caption("Copy it now. It will not be shown again.")
    for link in calls.list_links(state.client(), session_id).items:
        _row(session_id, link)


def _row(session_id: UUID, link: SessionLink) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        if link.state is not LinkState.VALID:
            st.caption(f":material/link_off: {_words(link)}")
            return
        st.markdown(f":material/link: {_words(link)}", width="content")
        st.button(
            "Revoke",
            key=f"revoke-{link.id}",
            icon=":material/link_off:",
            help="The link stops working for everyone",
            on_click=_revoke,
            args=(session_id, link.id),
        )


def _words(link: SessionLink) -> str:
    """Return when a link was made, and when it ends or why it has ended."""
    line = f"Made {reader.moment(link.created_at)}"
    if link.revoked_at is not None:
        return f"{line}, revoked {reader.moment(link.revoked_at)}"
    if link.state is LinkState.DISABLED:
        return f"{line}, ended: who made it may not share this session any more"
    if link.expires_at is None:
        return line
    ends = "expired" if link.state is LinkState.EXPIRED else "valid until"
    return f"{line}, {ends} {reader.moment(link.expires_at)}"


def _make(session_id: UUID, days: int) -> None:
    here = urlsplit(st.context.url or "")
    with state.flashing():
        token = calls.make_link(state.client(), session_id, days).token
        st.session_state[_MADE] = f"{here.scheme}://{here.netloc}/shared?{navigation.LINK}={token}"


def _revoke(session_id: UUID, link_id: UUID) -> None:
    with state.flashing():
        calls.revoke_link(state.client(), session_id, link_id)
    st.session_state.pop(_MADE, None)
