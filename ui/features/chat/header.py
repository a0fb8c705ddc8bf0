"""The header of an open session: its title, the model, and whether it is read-only."""

from functools import partial

import streamlit as st

from backend.schemas.conversations.sessions import Session
from backend.schemas.operations.server import ServerInfo
from backend.schemas.people.rights import SessionRights
from ui import navigation
from ui.features.artifacts.state import panel_of
from ui.features.results import exports
from ui.features.reviews import seen
from ui.features.sharing import dialog, whose
from ui.features.usage import session as usage_session
from ui.shared import banners, icons
from ui.shared.text.markdown import plain


def show(session: Session, server: ServerInfo) -> None:
    """Draw the session's title, also as the browser tab's."""
    title = session.title or "New chat"
    st.set_page_config(page_title=f"{title} · Colloquy")
    with st.container(
        key="session-head",
        horizontal=True,
        vertical_alignment="center",
        horizontal_alignment="distribute",
    ):
        st.markdown(
            f"**{plain(title)}** :small[:gray[{plain(session.domain, 60)}]]", width="content"
        )
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            _badges(session, server)
            if not session.models:  # otherwise the choice and each answer name the model
                banners.model_badge(server)
            with icons.alone(str(session.id)):
                _actions(session, server)


def _badges(session: Session, server: ServerInfo) -> None:
    """Draw whether the session is archived or can only be read here."""
    if session.archived:
        st.badge("Archived", icon=":material/archive:", color="gray")
    seen.show(session)
    if not navigation.asks_to_read() and (words := whose.words(session)):
        st.badge(plain(words, 80), icon=":material/group:", color="gray")
    if not navigation.is_read_only():
        return
    st.badge(f"Read only · {plain(whose.owner(session), 60)}", color="gray")
    if session.owner == server.user and session.parent_id is None:
        st.page_link(
            navigation.CHAT_PAGE,
            label="Write here",
            icon=":material/edit:",
            help="This session is yours",
            query_params={"session": str(session.id)},
        )


def _actions(session: Session, server: ServerInfo) -> None:
    """Draw the session's actions, and links to its other pages."""
    usage_session.show(session)
    exports.show(session)
    if session.rights is SessionRights.OWN and not navigation.is_read_only():
        dialog.button(session)
    st.button(
        "Artifacts",
        key=f"artifacts-{session.id}",
        type="tertiary",
        icon=":material/dataset:",
        help="Artifacts: tables, charts and documents of this session, with their versions",
        on_click=panel_of(session.id).open,
        args=(None,),
    )
    link = partial(st.page_link, query_params=navigation.session_query(session.id))
    link(
        navigation.SEARCH_PAGE,
        label="Search in this session",
        icon=":material/search:",
        help="Search in this session",
    )
    link(
        navigation.CONFIGURATION_PAGE,
        label="Configuration",
        icon=":material/tune:",
        help="The session's configuration, and how its domain has changed since",
    )
    link(
        navigation.INSPECTOR_PAGE,
        label="Inspector",
        icon=":material/troubleshoot:",
        help="What the model reads next, and what it was sent so far",
    )
