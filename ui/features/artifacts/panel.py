"""The panel beside the chat: the session's artifacts, or one version of one of them.

A fragment: clicks here and links to it leave the rest of the page unchanged.
"""

from uuid import UUID

import streamlit as st

from backend.markdown.cells import Target
from backend.schemas.artifacts import Artifact, ArtifactContent, ArtifactKind
from ui import state
from ui.client import ClientError, NotFound
from ui.features.artifacts import calls, compare, downloads, links, preview, words
from ui.features.artifacts.state import Panel, close, panel_of
from ui.shared import banners, icons
from ui.shared.text import long_text
from ui.shared.text.markdown import one_line, plain

KEY = "artifact-panel"
UNKNOWN = (
    "This artifact does not exist, or you have no access to it. The answer's link may be wrong."
)
NO_VERSION = "This artifact has no version {0}. Its newest version is shown."
EMPTY = (
    "This session has no artifacts yet. Tables, charts and documents that agents keep"
    " appear here, each with its versions."
)


@st.fragment
def show(session_id: UUID, parent_id: UUID | None) -> None:
    """Draw the panel if it is open, and make links open it.

    `parent_id`: for a task, its plan's session, which owns what the task makes.
    """
    panel = panel_of(session_id)
    links.listen(session_id, panel)
    if not panel.is_open:
        st.empty()  # otherwise what a fragment no longer draws may stay, see `shared/watch`
        return
    with st.container(key=KEY, gap="small"):
        if panel.target is None:
            _head(panel, "Artifacts")
            if panel.problem:
                st.warning(panel.problem, icon=":material/link_off:")
            _list(session_id, panel)
        else:
            _artifact(session_id, parent_id, panel, panel.target)


def _head(panel: Panel, title: str, icon: str = "") -> None:
    with st.container(horizontal=True, key="artifact-panel-head"):
        st.markdown(f"### {icon} {plain(title, 120)}", width="stretch", anchors=False)
        with icons.alone("artifact-panel-ways", gap="xsmall"):
            if panel.target is not None:
                st.button(
                    "All artifacts of this session", key="artifact-list", type="tertiary",
                    icon=":material/list:", help="All artifacts of this session",
                    on_click=panel.open, args=(None,),
                )  # fmt: skip
            st.button(
                "Close the panel", key="artifact-close", type="tertiary", icon=":material/close:",
                help="Close the panel", on_click=close, args=(panel,),
            )  # fmt: skip


def _list(session_id: UUID, panel: Panel) -> None:
    try:
        page = calls.list_artifacts(state.client(), session_id)
    except ClientError as problem:
        banners.error(problem)
        return
    if not page.items:
        st.caption(EMPTY)
    for artifact in page.items:
        with st.container(gap=None):
            st.button(
                plain(artifact.title, 120),
                key=f"artifact-open-{artifact.id}",
                type="tertiary",
                icon=words.ICONS[artifact.kind],
                on_click=panel.open,
                args=(Target(artifact.id, artifact.version),),
            )
            st.caption(plain(words.about(artifact)))
    if page.next_cursor is not None:
        st.caption(f"Showing the newest {len(page.items)}.")


def _artifact(session_id: UUID, parent_id: UUID | None, panel: Panel, target: Target) -> None:
    """Draw one version of an artifact; if it is unavailable, why, and what exists instead."""
    client = state.client()
    try:
        artifact = calls.get_artifact(client, target.artifact_id)
        wanted = artifact.version if target.version is None else target.version
        version = wanted if 0 < wanted <= artifact.version else artifact.version
        rows = preview.ROWS if artifact.kind == ArtifactKind.TABLE else None
        content = calls.get_version(client, artifact.id, version, limit=rows)
    except NotFound:
        _head(panel, "Artifacts")
        st.warning(UNKNOWN, icon=":material/link_off:")
        _list(session_id, panel)
        return
    except ClientError as problem:
        _head(panel, "Artifacts")
        banners.error(problem)
        return
    _head(panel, content.title, words.ICONS[content.kind])
    st.caption(plain(words.about_version(content, artifact.version)))
    if version != wanted:
        st.warning(NO_VERSION.format(wanted), icon=":material/link_off:")
    if artifact.session_id not in (session_id, parent_id):
        st.caption(":material/forum: It belongs to another session.")
    try:
        _version(session_id, panel, artifact, content, target)
    except ClientError as problem:
        banners.error(problem)


def _version(
    session_id: UUID, panel: Panel, artifact: Artifact, content: ArtifactContent, target: Target
) -> None:
    """Draw a version: whether it is outdated, its content or a comparison, and its actions."""
    _say_stale(panel, artifact, content.version, target)
    before = _versions(panel, artifact, content, target)
    key = f"artifact-{artifact.id}-{content.version}"
    if before is not None:
        compare.show(content, before, key)
        downloads.show(content, key)
    else:
        preview.show(content, target, session_id, key)
        downloads.show(content, key, preview.OWN_FORMATS.get(content.kind, ()))
    _origin(content, key)


def _say_stale(panel: Panel, artifact: Artifact, version: int, target: Target) -> None:
    if version >= artifact.version:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f":material/update: A newer version exists: {artifact.version}.", width="content"
        )
        st.button(
            f"Show version {artifact.version}",
            key=f"artifact-newest-{artifact.id}",
            type="tertiary",
            on_click=panel.open,
            args=(Target(artifact.id, artifact.version, target.row, target.column),),
        )


def _versions(
    panel: Panel, artifact: Artifact, content: ArtifactContent, target: Target
) -> int | None:
    """Draw the choice of versions. Return the one to compare with, if one is chosen."""
    labels = {one.version: words.version_label(one) for one in content.versions}
    if len(labels) < 2:
        return None
    # A link from elsewhere takes precedence: the choice is reset with each opening.
    key = f"{artifact.id}-{panel.openings}"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            "Version",
            list(labels),
            list(labels).index(content.version),
            format_func=lambda number: one_line(labels[number]),
            key=f"artifact-version-{key}",
            on_change=_choose,
            args=(panel, artifact.id, target, f"artifact-version-{key}"),
        )
        others = [number for number in labels if number != content.version]
        before: int | None = st.selectbox(
            "Compare with",
            others,
            None,
            format_func=lambda number: one_line(labels[number]),
            placeholder="No other version",
            key=f"artifact-before-{artifact.id}-{content.version}",
        )
    return before


def _choose(panel: Panel, artifact_id: UUID, target: Target, key: str) -> None:
    """Show another version; the panel is not opened again, so the focus stays on the choice."""
    if (chosen := st.session_state.get(key)) is not None:
        panel.target = Target(artifact_id, int(chosen), target.row, target.column)


def _origin(content: ArtifactContent, key: str) -> None:
    lines = words.origin_lines(content.origin)
    if not lines:
        return
    with st.expander(
        "Where it came from", type="compact", icon=":material/line_start:", key=f"origin-{key}"
    ):
        for name, value in lines:
            if name == "Query":
                st.caption(name)
                long_text.code(value, f"query-{key}", "sql")
            else:
                st.caption(f"{name}: {plain(value)}")
