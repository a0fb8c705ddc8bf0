"""The line above a task's session: the session it belongs to, with a link back."""

import streamlit as st

from backend.schemas.conversations.sessions import Session
from ui import navigation, state
from ui.client import ClientError
from ui.shared import last_known
from ui.shared.text.markdown import plain


def show(session: Session) -> None:
    """Draw the line if the session is a task's."""
    parent_id = session.parent_id
    if parent_id is None:
        return
    try:
        parent = last_known.read(("session", parent_id), state.client().session, parent_id)
    except ClientError:
        return
    st.page_link(
        navigation.CHAT_PAGE,
        label=f"A task of **{plain(parent.title or 'New chat', 80)}**",
        icon=":material/arrow_back:",
        query_params={"session": str(parent_id)}
        | ({} if parent.owner == state.server().user else {"view": "read"}),
    )
