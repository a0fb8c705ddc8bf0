"""How a session's configuration differs from its domain today, and how to continue with that."""

from uuid import UUID

import streamlit as st

from backend.schemas.conversations.sessions import Session
from backend.schemas.domains.configuration import Drift
from ui import navigation, state
from ui.client import ClientError
from ui.features.domains import calls as domains
from ui.shared import banners, changes
from ui.shared.text.markdown import plain


def show(session: Session, drift: Drift) -> None:
    """Draw the drift; a single line if there is none."""
    for warning in drift.warnings:
        st.warning(plain(warning, 600), icon=":material/key_off:")
    st.markdown(_standing(session, drift))
    changes.show(drift.changes, f"drift-{session.id}")
    if not navigation.is_read_only():
        _continue(session, drift)


def _standing(session: Session, drift: Drift) -> str:
    name = plain(session.domain, 80)
    if not drift.domain_exists:
        return f":material/delete: The domain {name} was deleted. This session continues as it is."
    archived = " It is archived and accepts no new sessions." if drift.archived else ""
    if not drift.changes:
        return f":material/check: Identical to the domain {name} today.{archived}"
    since = f" from version {drift.image_version}" if drift.image_version else ""
    return (
        f":material/difference: The domain {name} has changed{since} to version"
        f" {drift.domain_version}. This session keeps what it started with.{archived}"
    )


def _continue(session: Session, drift: Drift) -> None:
    items = domains.list_domains(state.client(), archived=False)
    if not items:
        return
    names = {str(item.id): item.name for item in items}
    own = str(session.domain_id)
    st.caption(
        "A new session with today's configuration takes over history and memory; this one"
        " stays unchanged."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen: str | None = next(iter(names))
        if len(names) > 1 or own not in names:
            chosen = st.selectbox(
                "Domain",
                list(names),
                index=list(names).index(own) if own in names else 0,
                format_func=lambda each: names[each],
                key=f"continue-in-{session.id}",
                width=240,
            )
        asked = st.button(
            "Continue in a new session",
            key=f"continue-{session.id}",
            type="primary" if drift.changes else "secondary",
            icon=":material/move_up:",
        )
    if asked:
        _go_on(session.id, chosen)
    else:
        state.forget_continuing(session.id)


def _go_on(session_id: UUID, domain: str | None) -> None:
    try:
        session = domains.continue_session(
            state.client(), session_id, domain, state.continue_key(session_id)
        )
    except ClientError as problem:
        banners.error(problem)
        return
    navigation.go_to_session(session.id)
