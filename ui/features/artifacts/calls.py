"""API calls for artifacts: a session's list, versions with their content, diffs, downloads."""

from collections.abc import Sequence
from uuid import UUID

from backend.schemas.artifacts import Artifact, ArtifactContent, ArtifactDiff, ArtifactPage
from ui.client import Client

PAGE = 100


def list_artifacts(client: Client, session_id: UUID, cursor: str | None = None) -> ArtifactPage:
    """Return a page of a session's artifacts, the newest first."""
    path = f"sessions/{session_id}/artifacts"
    return client.get(ArtifactPage, path, limit=PAGE, cursor=cursor)


def get_artifact(client: Client, artifact_id: UUID) -> Artifact:
    """Return an artifact."""
    return client.get(Artifact, f"artifacts/{artifact_id}")


def get_version(
    client: Client, artifact_id: UUID, version: int, offset: int = 0, limit: int | None = None
) -> ArtifactContent:
    """Return a version with the content to show; of a table, `limit` rows from `offset` on."""
    path = f"artifacts/{artifact_id}/versions/{version}"
    return client.get(ArtifactContent, path, offset=offset or None, limit=limit)


def get_diff(
    client: Client, artifact_id: UUID, before: int, after: int, key: Sequence[str] = ()
) -> ArtifactDiff:
    """Return how the later version differs; `key`: the columns that identify a row."""
    path = f"artifacts/{artifact_id}/diff"
    return client.get(ArtifactDiff, path, before=before, after=after, key=list(key) or None)


def download_path(artifact_id: UUID, version: int) -> str:
    """Return where the API has a version as a file."""
    return f"artifacts/{artifact_id}/versions/{version}/download"
