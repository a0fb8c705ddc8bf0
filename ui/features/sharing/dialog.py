"""The dialog in which whose a session is shares it: with people, teams, everyone, or by links."""

from uuid import UUID

import streamlit as st

from backend.schemas.conversations.sessions import Session
from backend.schemas.people.grants import Grant, NewSessionGrant, Principal
from backend.schemas.people.rights import PrincipalType, Right
from ui import state
from ui.features.links import sharing as links
from ui.features.sharing import calls
from ui.shared import banners
from ui.shared.text.markdown import plain

MAY = {Right.READ: "may read", Right.CONTINUE: "may continue"}
ICONS = {
    PrincipalType.USER: ":material/person:",
    PrincipalType.TEAM: ":material/group:",
    PrincipalType.EVERYONE: ":material/public:",
}


def button(session: Session) -> None:
    """Draw the button that opens the dialog."""
    has_accounts = state.server().has_accounts
    if st.button(
        "Share",
        key=f"share-{session.id}",
        icon=":material/share:",
        type="tertiary",
        help="Share this session" if has_accounts else "Share a read-only link",
    ):
        links.begin()
        if has_accounts:
            _show(session)
        else:
            _show_links(session.id)


@st.dialog("Share this session", icon=":material/share:")
def _show(session: Session) -> None:
    draw(session)


def draw(session: Session) -> None:
    """Draw whose the session is, with whom it is shared, and its links."""
    banners.what_happened()
    _belongs_to(session)
    _add(session.id)
    for grant in calls.grants(state.client(), session.id).items:
        _row(session.id, grant)
    st.divider()
    links.show(session.id)


@st.dialog("Share a read-only link", icon=":material/share:")
def _show_links(session_id: UUID) -> None:
    banners.what_happened()
    links.show(session_id)


def _belongs_to(session: Session) -> None:
    """Draw the choice of the team that the session belongs to, for who may give it away."""
    teams = {team.id: team.name for team in calls.teams(state.client())}
    is_mine = session.owner == state.server().user
    if not teams or session.parent_id is not None or not is_mine:
        return
    current = session.team or ""
    st.selectbox(
        "Belongs to",
        ["", *teams],
        index=["", *teams].index(current) if current in teams else 0,
        format_func=lambda team: f"Team {teams[team]}" if team else "Only me",
        key=f"team-of-{session.id}",
        help="A team's session is open to all its members, who may also rename, share or delete it",
        on_change=_give,
        args=(session.id,),
    )


def _add(session_id: UUID) -> None:
    q = st.text_input("Find a person or a team", key="share-find", placeholder="A part of a name")
    found = {_key(one): one for one in calls.principals(state.client(), q)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            "With", list(found), format_func=lambda key: found[key].name, key="share-with"
        )
        right = st.selectbox("They", list(MAY), format_func=MAY.__getitem__, key="share-right")
        st.button(
            "Share",
            key="share-add",
            type="primary",
            on_click=_share,
            args=(session_id, found[chosen], right),
        )


def _row(session_id: UUID, grant: Grant) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        name, icon = plain(grant.principal_name, 80), ICONS[grant.principal_type]
        st.markdown(f"{icon} {name} {MAY[grant.right]}", width="content")
        st.button(
            "Take away",
            key=f"unshare-{grant.principal_type}-{grant.principal_id}",
            icon=":material/person_remove:",
            help="They can open the session no more",
            on_click=_unshare,
            args=(session_id, grant),
        )


def _key(one: Principal) -> str:
    return f"{one.type}:{one.id}"


def _give(session_id: UUID) -> None:
    with state.flashing():
        team = st.session_state[f"team-of-{session_id}"] or None
        calls.give(state.client(), session_id, team)


def _share(session_id: UUID, with_whom: Principal, right: Right) -> None:
    grant = NewSessionGrant(
        principal_type=with_whom.type,
        principal_id=with_whom.id,
        right=Right.CONTINUE if right is Right.CONTINUE else Right.READ,
    )
    with state.flashing():
        calls.share(state.client(), session_id, grant)


def _unshare(session_id: UUID, grant: Grant) -> None:
    with state.flashing():
        calls.unshare(state.client(), session_id, grant)
