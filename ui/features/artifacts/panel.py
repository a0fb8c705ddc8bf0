"""What the panel beside the chat shows of artifacts: a session's list, or a version of one."""

from uuid import UUID

import streamlit as st

from backend.markdown.cells import ARTIFACT, Target
from backend.schemas.artifacts import Artifact, ArtifactContent, ArtifactKind
from ui import state
from ui.client import ClientError, NotFound
from ui.features.artifacts import calls, compare, downloads, preview, words
from ui.features.artifacts.state import Panel
from ui.shared import banners, icons
from ui.shared.text import long_text
from ui.shared.text.markdown import one_line, plain

UNKNOWN = (
    "This artifact does not exist, or you have no access to it. The answer's link may be wrong."
)
NO_VERSION = "This artifact has no version {0}. Its newest version is shown."
EMPTY = (
    "This session has no artifacts yet. Tables, charts and documents that agents keep"
    " appear here, each with its versions."
)


def head(panel: Panel, title: str, icon: str = "") -> None:
    """Draw the title, with the ways to the list and out."""
    with st.container(horizontal=True, key="panel-head"):
        st.markdown(f"### {icon} {plain(title, 120)}", width="stretch", anchors=False)
        with icons.alone("panel-ways", gap="xsmall"):
            if panel.target is not None:
                st.button(
                    "All artifacts of this session", key="artifact-list", type="tertiary",
                    icon=":material/list:", help="All artifacts of this session",
                    on_click=panel.open, args=(None,),
                )  # fmt: skip
            st.button(
                "Close the panel", key="panel-close", type="tertiary", icon=":material/close:",
                help="Close the panel", on_click=panel.close,
            )  # fmt: skip


def show_list(panel: Panel, session_id: UUID) -> None:
    """Draw the artifacts of a session."""
    head(panel, "Artifacts")
    if panel.kind == ARTIFACT:
        st.warning("This link does not point to an artifact.", icon=":material/link_off:")
    _list(session_id, panel)


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


def show_artifact(panel: Panel, session_id: UUID) -> None:
    """Draw one version of an artifact; if it is unavailable, why, and what exists instead."""
    client, target = state.client(), panel.target
    if target is None:
        show_list(panel, session_id)
        return
    try:
        artifact = calls.get_artifact(client, target.artifact_id)
        wanted = artifact.version if target.version is None else target.version
        version = wanted if 0 < wanted <= artifact.version else artifact.version
        rows = preview.ROWS if artifact.kind == ArtifactKind.TABLE else None
        content = calls.get_version(client, artifact.id, version, limit=rows)
    except NotFound:
        head(panel, "Artifacts")
        st.warning(UNKNOWN, icon=":material/link_off:")
        _list(session_id, panel)
        return
    head(panel, content.title, words.ICONS[content.kind])
    st.caption(plain(words.about_version(content, artifact.version)))
    if version != wanted:
        st.warning(NO_VERSION.format(wanted), icon=":material/link_off:")
    try:
        if artifact.session_id not in (session_id, client.session(session_id).parent_id):
            st.caption(":material/forum: It belongs to another session.")
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
        downloads.show(content)
    else:
        preview.show(content, target, session_id, key)
        downloads.show(content, preview.OWN_FORMATS.get(content.kind, ()))
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
