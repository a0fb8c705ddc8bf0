"""What is known of a session's artifacts while its messages are drawn: links, and which are old."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from backend.schemas.artifacts import Artifact
from backend.schemas.conversations.sessions import ContentType, DisplayMessage
from ui import navigation, state
from ui.client import ClientError
from ui.features.artifacts.calls import list_artifacts
from ui.shared import last_known
from ui.shared.text.artifact_links import STALE, Target, find_targets, replace_links

MOST_PAGES = 5


@dataclass
class Known:
    """A session's artifacts by id; empty where none was asked for. Links lead into `session_id`.

    Whoever reads by a link of the session opens no artifact: `is_linked` is false.
    """

    session_id: UUID
    artifacts: Mapping[UUID, Artifact] = field(default_factory=dict)
    is_linked: bool = True

    def newer(self, target: Target) -> Artifact | None:
        """Return the artifact, if there is a newer version than the one that is linked to."""
        found = self.artifacts.get(target.artifact_id)
        is_old = found and target.version is not None and found.version > target.version
        return found if is_old else None

    def link(self, label: str, target: Target) -> str:
        """Return the link as Markdown, marked where a newer version exists."""
        if not self.is_linked:
            return label
        href = target.href(self.session_id)
        if self.newer(target) is None:
            return f"[{label}]({href})"
        return f'[{label}{STALE}]({href} "Version {target.version}; a newer version exists")'

    def write(self, text: str) -> str:
        """Return a text whose links to cells lead to the panel."""
        return replace_links(text, self.link)

    def stale_in(self, text: str) -> list[tuple[Artifact, int]]:
        """Return the artifacts of which a text names an older version, and which, each once."""
        found = {}
        for target in find_targets(text):
            if (artifact := self.newer(target)) and target.version is not None:
                found[artifact.id, target.version] = artifact
        return [(artifact, version) for (_, version), artifact in found.items()]


def artifacts_of(session_id: UUID, rows: Iterable[DisplayMessage]) -> Known:
    """Return what is known of the artifacts that these rows name; asked for where one does."""
    if navigation.link_token() is not None:
        return Known(session_id, is_linked=False)
    if not any(map(_names_one, rows)):
        return Known(session_id)
    return Known(session_id, load(session_id))


def load(session_id: UUID) -> dict[UUID, Artifact]:
    """Return all that a page needs to know; without the service what it knew, else nothing."""
    try:
        return last_known.read(("artifacts", session_id), _read, session_id)
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
