"""Buttons that download a version in each format of its kind."""

from collections.abc import Sequence

import streamlit as st

from backend.schemas.artifacts import ArtifactContent, file_title
from ui import state
from ui.features.artifacts import words
from ui.features.artifacts.origin import download
from ui.features.artifacts.words import FILE
from ui.shared.tables import file_name


def show(content: ArtifactContent, key: str, without: Sequence[str] = ()) -> None:
    """Draw the buttons in a row; `without`: formats that are offered elsewhere."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for format, label in words.FORMATS.get(content.kind, ()):
            if format not in without:
                _button(content, key, format, label, file_name(content.title, format))
        if content.kind not in words.FORMATS:
            name = file_name(*file_title(content.title, content.media_type))
            _button(content, key, FILE, "Download", name)


def _button(content: ArtifactContent, key: str, format: str, label: str, name: str) -> None:
    st.download_button(
        label,
        state.later(download, content.artifact_id, content.version, format),
        file_name=name,
        mime="application/octet-stream",
        key=f"take-{format}-{key}",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        help=f"Download version {content.version}" + ("" if format == FILE else f" as {label}"),
    )
