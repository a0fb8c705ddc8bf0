"""A session's artifacts as known while its messages are drawn: links, and outdated versions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from backend.markdown.cells import STALE, Target, find_targets, rewrite_links, write_anchor
from backend.schemas.artifacts import Artifact
from backend.schemas.conversations.sessions import DisplayMessage
from colloquy_kit.messages.kinds import ContentType
from ui import state
from ui.client import ClientError
from ui.features.artifacts.calls import list_artifacts
from ui.shared.text.markdown import Piece

MOST_PAGES = 5


@dataclass
class SessionArtifacts:
    """A session's artifacts by id; empty where none was read. Links point into `session_id`."""

    session_id: UUID
    artifacts: Mapping[UUID, Artifact] = field(default_factory=dict)

    def newer(self, target: Target) -> Artifact | None:
        """Return the artifact if it has a newer version than the linked one."""
        found = self.artifacts.get(target.artifact_id)
        is_old = found and target.version is not None and found.version > target.version
        return found if is_old else None

    def link(self, label: str, target: Target) -> str:
        """Return the link to a target from its label, both HTML; marked if there is a newer one."""
        href = target.href(self.session_id)
        if self.newer(target) is None:
            return write_anchor(label, href)
        title = f"Version {target.version}; a newer version exists"
        return write_anchor(f"{label}{STALE}", href, title)

    def write(self, piece: Piece) -> Piece:
        """Return a piece of a text with its links to cells pointing to the panel."""
        return replace(piece, html=rewrite_links(piece.html, self.link))

    def stale_in(self, text: str) -> list[tuple[Artifact, int]]:
        """Return each artifact that a text links to in an older version, with that version."""
        found = {}
        for target in find_targets(text):
            if (artifact := self.newer(target)) and target.version is not None:
                found[artifact.id, target.version] = artifact
        return [(artifact, version) for (_, version), artifact in found.items()]


def artifacts_of(session_id: UUID, rows: Iterable[DisplayMessage]) -> SessionArtifacts:
    """Return the session's artifacts, read only if one of these rows names one."""
    if not any(map(_names_one, rows)):
        return SessionArtifacts(session_id)
    return SessionArtifacts(session_id, load(session_id))


def load(session_id: UUID) -> dict[UUID, Artifact]:
    """Return all artifacts of a session; none, if they cannot be read."""
    try:
        return _read(session_id)
    except ClientError:
        return {}


def _names_one(row: DisplayMessage) -> bool:
    if row.content_type is ContentType.TEXT:
        return "artifact:" in str(row.content.get("text", ""))
    return row.content_type is ContentType.ARTIFACT


def _read(session_id: UUID) -> dict[UUID, Artifact]:
    found: dict[UUID, Artifact] = {}
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = list_artifacts(state.client(), session_id, cursor)
        found |= {artifact.id: artifact for artifact in page.items}
        cursor = page.next_cursor
        if cursor is None:
            break
    return found
