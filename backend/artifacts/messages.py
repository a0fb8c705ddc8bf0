"""Artifacts linked to messages, and the artifact made of a payload."""

from collections.abc import Collection
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from sqlalchemy import Row, func, select, update
from sqlalchemy.orm import Session

from backend.artifacts import rows
from backend.artifacts.contents import Kept
from backend.artifacts.making import dump
from backend.artifacts.previews import fitting, json_preview
from backend.artifacts.rows import NewVersion
from backend.conversations.paths import Path
from backend.schemas.artifacts import ArtifactKind
from backend.types import JSON
from db.models.artifacts.artifact import ArtifactRow, ArtifactVersionRow
from db.models.conversations.conversation import ConversationRow
from db.models.planning.plan import PlanRow, TaskRow
from db.models.turns.turn import TurnRow

PAYLOAD = "Payload"
_VERSION = ArtifactVersionRow


def save_payload(
    session: Session,
    conversation_id: UUID,
    turn_id: UUID,
    agent: str,
    message_id: str | None,
    payload: JSON,
) -> tuple[UUID, int] | None:
    """Store a conversation's payload as the next version of its artifact.

    Return None if the active branch has shown it already. What only another branch has shown gets
    a version of its own, because a version belongs to one message.

    It is stored in the database whatever its size, like the state that it comes from. Raise
    SessionNotFound.
    """
    text = dump(payload)
    content = text.encode()
    new = NewVersion(
        title=PAYLOAD,
        kind=ArtifactKind.JSON,
        media_type="application/json",
        kept=Kept.inline(content),
        preview=json_preview(text),
        origin={"payload": True},
        agent=agent,
        turn_id=turn_id,
        message_id=message_id,
    )
    artifact_id = uuid5(NAMESPACE_OID, f"payload of {conversation_id}")
    added = rows.add(session, rows.home_of(session, conversation_id), new, artifact_id)
    if not added.is_new:
        shown = _version_on_branch(session, conversation_id, artifact_id)
        added = rows.revise(session, artifact_id, None, new, after=shown)
    return (added.artifact_id, added.version) if added.is_new else None


def _version_on_branch(session: Session, conversation_id: UUID, artifact_id: UUID) -> int:
    """Return an artifact's newest version made by a turn of the active branch; 0 if none was."""
    path = Path.read(
        session.scalar(select(ConversationRow.path).where(ConversationRow.id == conversation_id))
    )
    made = session.execute(
        select(_VERSION.version, TurnRow.message_position)
        .join(TurnRow, TurnRow.id == _VERSION.turn_id)
        .where(_VERSION.artifact_id == artifact_id)
        .order_by(_VERSION.version.desc())
    )
    return next((version for version, place in made if place and path.has(place)), 0)


def link_to_message(session: Session, turn_id: UUID, message_id: str) -> None:
    """Link what a turn and its tasks have made to a message, unless it is linked already."""
    of_tasks = (
        select(TaskRow.turn_id)
        .join(PlanRow, PlanRow.id == TaskRow.plan_id)
        .where(PlanRow.turn_id == turn_id)
    )
    session.execute(
        update(_VERSION)
        .where((_VERSION.turn_id == turn_id) | _VERSION.turn_id.in_(of_tasks))
        .where(_VERSION.message_id.is_(None))
        .values(message_id=message_id)
        .execution_options(synchronize_session=False)
    )


def of_messages(
    session: Session,
    conversation_id: UUID,
    message_ids: Collection[str],
    characters: int = 20_000,
) -> dict[str, list[JSON]]:
    """Return, by message, its artifacts' newest linked versions, oldest first, in one query.

    Each is `{artifact_id, version, kind, title, content}`, where content has at most this many
    characters: the JSON value, the text, a table's first rows with `total_rows`, a chart's spec.
    Content that is cut says so.
    """
    found: dict[str, list[JSON]] = {}
    if not message_ids:
        return found
    for row in _newest(session, conversation_id, message_ids, characters):
        found.setdefault(row.message_id, []).append(
            {
                "artifact_id": str(row.artifact_id),
                "version": row.version,
                "kind": row.kind,
                "title": row.title,
                "content": fitting(row.kind, row.preview, row.content, characters),
            }
        )
    return found


def _newest(
    session: Session, conversation_id: UUID, message_ids: Collection[str], most_bytes: int
) -> list[Row[Any]]:
    """Return the newest version for each message and artifact, in order, with small contents."""
    home = (
        select(func.coalesce(ConversationRow.parent_id, ConversationRow.id))
        .where(ConversationRow.id == conversation_id)
        .scalar_subquery()
    )
    is_small = (_VERSION.size <= most_bytes) & ArtifactRow.kind.in_(("json", "document"))
    newest = (
        select(
            _VERSION.message_id,
            _VERSION.artifact_id,
            _VERSION.version,
            _VERSION.title,
            _VERSION.preview,
            _VERSION.created_at,
            ArtifactRow.kind,
            is_small.label("is_small"),
        )
        .join(ArtifactRow, ArtifactRow.id == _VERSION.artifact_id)
        .where(ArtifactRow.conversation_id == home, _VERSION.message_id.in_(message_ids))
        .distinct(_VERSION.message_id, _VERSION.artifact_id)
        .order_by(_VERSION.message_id, _VERSION.artifact_id, _VERSION.version.desc())
        .subquery()
    )
    whole = (_VERSION.artifact_id == newest.c.artifact_id) & (_VERSION.version == newest.c.version)
    query = (
        select(newest, _VERSION.content)
        .outerjoin(_VERSION, whole & newest.c.is_small)
        .order_by(newest.c.created_at, newest.c.artifact_id)
    )
    return list(session.execute(query))
