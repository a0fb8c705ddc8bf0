"""Versions of servers' tools: those waiting for a decision, and past decisions."""

from uuid import UUID

import streamlit as st

from backend.schemas.domains.servers import ToolVersion, ToolVersionPage, VersionStatus
from ui import state
from ui.client import ClientError
from ui.features.servers.calls import decide_version, list_versions
from ui.features.servers.words import changes, version_words
from ui.shared import banners
from ui.shared.formats import reader
from ui.shared.text import long_text
from ui.shared.text.markdown import plain

SHOWN = 50
COLORS = {VersionStatus.ACCEPTED: "green", VersionStatus.REFUSED: "red"}


def show(domain_id: UUID) -> None:
    """Draw both; after a decision the servers are checked again."""
    try:
        page = list_versions(state.client(), domain_id)
    except ClientError as error:
        banners.error(error)
        return
    with st.container():
        _waiting(domain_id, page)
    with st.container():
        _decided(domain_id, page)


def _waiting(domain_id: UUID, page: ToolVersionPage) -> None:
    waiting = [one for one in page.items if one.status is VersionStatus.PENDING]
    if not waiting:
        return
    st.subheader("Waiting for a decision", anchor=False)
    st.caption(
        "The model reads a server's descriptions of its tools. Turns do not use these tools until"
        " you accept them; other tools are not affected."
    )
    for version in waiting[:SHOWN]:
        with st.container(border=True):
            _question(domain_id, version)
    if page.pending > SHOWN:
        st.caption(f"Showing the first {SHOWN} of {reader.number(page.pending)}.")


def _question(domain_id: UUID, version: ToolVersion) -> None:
    st.markdown(f"**{plain(version.tool, 80)}** of {plain(version.server, 80)}")
    st.caption(f"{version_words(version)}, seen {reader.moment(version.seen_at)}".capitalize())
    long_text.code(changes(version), f"version-{version.id}", "diff" if version.before else None)
    with st.container(horizontal=True):
        _button(domain_id, version, is_accepted=True, is_primary=True)
        _button(domain_id, version, is_accepted=False)


def _decided(domain_id: UUID, page: ToolVersionPage) -> None:
    if not page.decided:
        return
    shown = [one for one in page.items if one.status in COLORS][:SHOWN]
    label = f"Accepted and refused versions ({reader.number(page.decided)})"
    with st.expander(label, icon=":material/history:"):
        for version in shown:
            _row(domain_id, version)
        if len(shown) < page.decided:
            st.caption(f"Showing the newest {len(shown)}.")


def _row(domain_id: UUID, version: ToolVersion) -> None:
    name, status, by, action = st.columns([4, 2, 4, 2], vertical_alignment="center")
    name.markdown(f"{plain(version.tool, 80)}  \n:gray[{plain(version.server, 80)}]")
    status.badge(version.status.capitalize(), color=COLORS[version.status])  # type: ignore[arg-type]
    by.caption(_decision(version))
    is_accepted = version.status is VersionStatus.ACCEPTED
    with action:
        _button(domain_id, version, is_accepted=not is_accepted)


def _decision(version: ToolVersion) -> str:
    if version.decided_by is None or version.decided_at is None:
        return f"As it was first seen, {reader.moment(version.seen_at)}"
    return f"By {plain(version.decided_by, 80)}, {reader.moment(version.decided_at)}"


def _button(
    domain_id: UUID, version: ToolVersion, *, is_accepted: bool, is_primary: bool = False
) -> None:
    st.button(
        "Accept" if is_accepted else "Refuse",
        key=f"{'accept' if is_accepted else 'refuse'}-{version.id}",
        type="primary" if is_primary else "secondary",
        icon=":material/check:" if is_accepted else ":material/block:",
        on_click=_decide,
        args=(domain_id, version.id, is_accepted),
    )


def _decide(domain_id: UUID, version_id: UUID, is_accepted: bool) -> None:
    with state.flashing():
        decide_version(state.client(), domain_id, version_id, is_accepted=is_accepted)
        state.memory().server_reports.pop(domain_id, None)
