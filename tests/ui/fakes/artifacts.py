"""The part of the fake API that holds artifacts."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response

from backend.schemas.artifacts import (
    Artifact,
    ArtifactContent,
    ArtifactDiff,
    ArtifactPage,
    ArtifactVersion,
)
from backend.schemas.conversations.sessions import Problem
from colloquy_kit.messages.kinds import ContentType, MessageType


class FakeArtifacts:
    """What the fake knows of artifacts; `contents` are the previews by artifact and version."""

    def __init__(self, store):
        self.store = store
        self.items: dict[UUID, Artifact] = {}
        self.contents: dict[UUID, list[ArtifactContent]] = {}
        self.diffs: dict[UUID, ArtifactDiff] = {}
        self.refusal = False

    def add(self, session, kind, title, preview, agent="Reconciler", **fields) -> Artifact:
        """Add an artifact with its first version."""
        now = datetime.now(UTC)
        artifact = Artifact(
            id=uuid4(), session_id=session.id, kind=kind, title=title, version=0, agent=agent,
            bytes=0, created_at=now, updated_at=now,
        )  # fmt: skip
        self.items[artifact.id], self.contents[artifact.id] = artifact, []
        self.revise(artifact, preview, agent, **fields)
        return artifact

    def revise(self, artifact, preview, agent="Reconciler", **fields):
        """Add a version."""
        artifact.version += 1
        artifact.bytes = 1_000 * artifact.version
        content = ArtifactContent.model_validate({
            "artifact_id": artifact.id, "version": artifact.version, "title": artifact.title,
            "kind": artifact.kind, "agent": agent, "turn_id": None, "hash": "0" * 64,
            "media_type": "text/plain", "bytes": artifact.bytes, "created_at": datetime.now(UTC),
            "preview": preview, "versions": [],
        } | fields)  # fmt: skip
        self.contents[artifact.id].append(content)

    def show(self, session, artifact, turn=None):
        """Let the chat have its card."""
        content = {
            "artifact_id": str(artifact.id), "version": artifact.version,
            "kind": str(artifact.kind), "title": artifact.title,
        }  # fmt: skip
        return self.store.add_row(
            session, MessageType.TOOL, ContentType.ARTIFACT, content, turn, agent=artifact.agent
        )


def add_artifact_routes(app: FastAPI, held: FakeArtifacts, api: str) -> None:
    @app.get(f"{api}/sessions/{{session_id}}/artifacts")
    def listed(session_id: UUID):
        if held.refusal:
            return missing()
        home = held.store.sessions[session_id].parent_id or session_id
        items = [one for one in held.items.values() if one.session_id == home]
        return ArtifactPage(items=items[::-1], next_cursor=None)

    @app.get(f"{api}/artifacts/{{artifact_id}}")
    def artifact(artifact_id: UUID):
        return held.items.get(artifact_id) or missing()

    @app.get(f"{api}/artifacts/{{artifact_id}}/versions/{{version}}")
    def content(artifact_id: UUID, version: int, offset: int = 0, limit: int = 100):
        all_of_it = held.contents[artifact_id]
        found = all_of_it[version - 1]
        preview = dict(found.preview)
        if "rows" in preview:
            preview["rows"] = preview["rows"][offset : offset + limit]
        fields = set(ArtifactVersion.model_fields)
        versions = [ArtifactVersion(**one.model_dump(include=fields)) for one in all_of_it[::-1]]
        return found.model_copy(update={"preview": preview, "versions": versions})

    @app.get(f"{api}/artifacts/{{artifact_id}}/diff")
    def diff(artifact_id: UUID) -> ArtifactDiff:
        return held.diffs[artifact_id]

    @app.get(f"{api}/artifacts/{{artifact_id}}/versions/{{version}}/download")
    def download(artifact_id: UUID, version: int, format: str = "") -> Response:
        return Response(f"{artifact_id} {version} {format}".encode())


def missing():
    body = Problem(title="Not found", status=404, detail="There is none.").model_dump()
    return JSONResponse(body, 404, media_type="application/problem+json")
