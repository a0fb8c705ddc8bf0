"""The card of an artifact in the chat: its name, and a link that opens it beside the chat."""

import streamlit as st

from backend.markdown.cells import ARTIFACT, Target, read_target
from backend.schemas.artifacts import ArtifactKind
from backend.schemas.conversations.sessions import DisplayMessage
from ui.features.artifacts import embedded, preview, words
from ui.features.artifacts.known import SessionArtifacts
from ui.shared.text.markdown import plain

LISTED_AS = ":material/update: A newer version exists: {0}"


def target_of(row: DisplayMessage) -> Target | None:
    """Return the artifact version that a display message names; None if it names none."""
    content = row.content
    name = f"{content.get('artifact_id')}@{content.get('version') or 1}"
    return read_target({ARTIFACT: name})


def show(row: DisplayMessage, target: Target, known: SessionArtifacts, key: str) -> None:
    """Draw the card; a chart is drawn inside it."""
    kind = words.kind_of(row.content.get("kind"))
    title = plain(str(row.content.get("title") or words.NAMES[kind]), 120)
    by = [row.agent] if row.agent else []
    with st.container(border=True, gap="xsmall", key=f"artifact-card-{key}"):
        st.markdown(f"{words.ICONS[kind]} **[{title}]({target.href(known.session_id)})**")
        st.caption(plain(" · ".join([words.NAMES[kind], f"version {target.version}", *by])))
        if (newest := known.newer(target)) is not None:
            st.caption(LISTED_AS.format(newest.version))
        if kind is ArtifactKind.CHART:
            content = embedded.load(target.artifact_id, target.version or 1)
            if content is not None:
                preview.draw_chart(content, key, has_choices=False)
