"""The dialog in which an owner makes links to a session, and revokes them."""

from urllib.parse import urlsplit
from uuid import UUID

import streamlit as st

from backend.schemas.conversations.links import SessionLink
from backend.schemas.conversations.sessions import Session
from ui import navigation, state
from ui.features.links import calls
from ui.shared import banners
from ui.shared.formats import reader

_MADE = "made-link"


def button(session: Session) -> None:
    """Draw the button that opens the dialog."""
    if st.button(
        "Share",
        key=f"share-{session.id}",
        icon=":material/share:",
        type="tertiary",
        help="Share a read-only link",
    ):
        st.session_state.pop(_MADE, None)
        _show(session.id)


@st.dialog("Share a read-only link", icon=":material/share:")
def _show(session_id: UUID) -> None:
    banners.what_happened()
    st.caption(
        "Anyone who has the link and access to this installation can read the session: messages, "
        "steps, tables and charts, including future ones. They cannot write or approve anything."
    )
    st.button(
        "Make a link",
        key="make-link",
        type="primary",
        icon=":material/add_link:",
        on_click=_make,
        args=(session_id,),
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
        line = f"Made {reader.moment(link.created_at)}"
        if link.revoked_at is not None:
            st.caption(f":material/link_off: {line}, revoked {reader.moment(link.revoked_at)}")
            return
        st.markdown(f":material/link: {line}", width="content")
        st.button(
            "Revoke",
            key=f"revoke-{link.id}",
            icon=":material/link_off:",
            help="The link stops working for everyone",
            on_click=_revoke,
            args=(session_id, link.id),
        )


def _make(session_id: UUID) -> None:
    here = urlsplit(st.context.url or "")
    with state.flashing():
        token = calls.make_link(state.client(), session_id).token
        st.session_state[_MADE] = f"{here.scheme}://{here.netloc}/shared?{navigation.LINK}={token}"


def _revoke(session_id: UUID, link_id: UUID) -> None:
    with state.flashing():
        calls.revoke_link(state.client(), session_id, link_id)
    st.session_state.pop(_MADE, None)
