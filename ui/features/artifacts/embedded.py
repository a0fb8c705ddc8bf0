"""Versions embedded in a card or a document: read once, then cached."""

from uuid import UUID

import streamlit as st

from backend.schemas.artifacts import ArtifactContent, ArtifactKind
from backend.tabular.chart_places import ChartPlace
from ui import state
from ui.client import ClientError
from ui.features.artifacts import calls

KEPT_SECONDS, MAX_KEPT = 300, 40


def find(document_id: UUID, place: ChartPlace) -> ArtifactContent | None:
    """Return a chart that a document names; None if its session has no such chart."""
    user = state.server().user
    try:
        session_id, kind = _home(user, place.artifact_id)
        if kind != ArtifactKind.CHART or session_id != _home(user, document_id)[0]:
            return None
        version = place.version or calls.get_artifact(state.client(), place.artifact_id).version
        return _version(user, place.artifact_id, version)
    except ClientError:
        return None


def load(artifact_id: UUID, version: int) -> ArtifactContent | None:
    """Return a version; None if it is unavailable."""
    try:
        return _version(state.server().user, artifact_id, version)
    except ClientError:
        return None


# Cached per person: what one may see is not served to another. The content never changes.
@st.cache_data(ttl=KEPT_SECONDS, max_entries=2 * MAX_KEPT, show_spinner=False)
def _home(user: str, artifact_id: UUID) -> tuple[UUID, str]:
    """Return the session of an artifact, and its kind."""
    found = calls.get_artifact(state.client(), artifact_id)
    return found.session_id, str(found.kind)


@st.cache_data(ttl=KEPT_SECONDS, max_entries=MAX_KEPT, show_spinner=False)
def _version(user: str, artifact_id: UUID, version: int) -> ArtifactContent:
    return calls.get_version(state.client(), artifact_id, version)
