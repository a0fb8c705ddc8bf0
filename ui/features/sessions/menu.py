"""The menu of a session's row: rename, pin, archive, delete (which asks before it does)."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from backend.schemas.sessions import MAX_TITLE_CHARS, Session, SessionChange
from ui import state
from ui.client import ClientError
from ui.features.approvals import allowed as approval_allowed
from ui.shared.text.markdown import plain

RENAME = ":material/edit: Rename"
PIN = ":material/keep: Pin"
UNPIN = ":material/keep_off: Unpin"
ARCHIVE = ":material/archive: Archive"
RESTORE = ":material/unarchive: Restore"
ALLOWED = ":material/verified_user: Allowed tools"
DELETE = ":material/delete: Delete"


def show(session: Session) -> None:
    """The row's menu button, and the dialog that was chosen in it."""
    options = [
        RENAME,
        UNPIN if session.pinned else PIN,
        RESTORE if session.archived else ARCHIVE,
        ALLOWED,
        DELETE,
    ]
    chosen = st.menu_button(
        ":material/more_vert:", options, key=f"menu-{session.id}", type="tertiary"
    )
    if chosen is not None:
        ACTIONS[chosen](session)


def _change(session: Session, **fields: object) -> None:
    try:
        state.client().change_session(session.id, SessionChange.model_validate(fields))
    except ClientError as problem:
        state.flash(problem)
    state.forget_older_sessions()
    st.rerun()


@st.dialog("Rename session", icon=":material/edit:")
def _rename(session: Session) -> None:
    with st.form("rename", border=False):
        title = st.text_input(
            "Title", value=session.title, max_chars=MAX_TITLE_CHARS, key=f"title-{session.id}"
        )
        if st.form_submit_button("Save", type="primary", width="stretch") and title.strip():
            _change(session, title=title.strip())


@st.dialog("Delete session?", icon=":material/delete:")
def _delete(session: Session) -> None:
    st.markdown(f"**{plain(session.title or 'New chat')}**")
    st.caption("All its messages and files are deleted for good. A running turn is stopped first.")
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep", key="keep"):
            st.rerun()
        if st.button("Delete", key="delete", type="primary", icon=":material/delete:"):
            _delete_now(session)


def _delete_now(session: Session) -> None:
    was_open = session.id == state.open_session_id()
    try:
        state.client().delete_session(session.id)
    except ClientError as problem:
        state.flash(problem)
        st.rerun()
    state.forget_older_sessions()
    if was_open:
        state.go_to_new_chat()
    st.rerun()


ACTIONS: Mapping[str, Callable[[Session], None]] = {
    RENAME: _rename,
    PIN: partial(_change, pinned=True),
    UNPIN: partial(_change, pinned=False),
    ARCHIVE: partial(_change, archived=True),
    RESTORE: partial(_change, archived=False),
    ALLOWED: approval_allowed.show,
    DELETE: _delete,
}
