"""Links that download a version in each format of its kind."""

from collections.abc import Sequence

import streamlit as st

from backend.schemas.artifacts import ArtifactContent
from ui.features.artifacts import words
from ui.features.artifacts.calls import download_path
from ui.features.artifacts.words import FILE
from ui.shared import downloads


def show(content: ArtifactContent, without: Sequence[str] = ()) -> None:
    """Draw the links in a row; `without`: formats that are offered elsewhere."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for format, label in words.FORMATS.get(content.kind, ()):
            if format not in without:
                _link(content, format, label)
        if content.kind not in words.FORMATS:
            _link(content, FILE, "Download")


def _link(content: ArtifactContent, format: str, label: str) -> None:
    about = f"Download version {content.version}" + ("" if format == FILE else f" as {label}")
    path = download_path(content.artifact_id, content.version)
    downloads.link(label, path, {"format": format}, about)
