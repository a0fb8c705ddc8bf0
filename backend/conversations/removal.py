"""Deleting a conversation permanently, without a repeated request recreating it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    cast,
    delete,
    func,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import array, insert
from sqlalchemy.orm import Session

from backend.errors.conversations import SessionNotFound
from backend.schemas.people.rights import Resource
from colloquy_kit.messages.kinds import ContentType, MessageType
from db.models.artifacts.artifact import ArtifactRow
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import DisplayMessageRow
from db.models.people.grant import GrantRow
from db.models.turns.spent_key import SpentKeyRow
from db.models.turns.turn import TurnRow

CONTINUES = "continues"  # in a conversation's metadata: the ids of all that it continues
KEPT_DAYS = 30  # clients retry within seconds, or days if they were offline
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def delete_conversation(session: Session, conversation_id: UUID) -> None:
    """Delete a conversation entirely, but keep its turns' idempotency keys for a while.

    Its id is kept among them: it may have been derived from a key. Artifacts that a conversation
    which continues it names are given to that one.
    """
    _give_artifacts(session, conversation_id)
    of_turns = select(TurnRow.owner_id, TurnRow.idempotency_key).where(
        TurnRow.conversation_id == conversation_id, TurnRow.idempotency_key.is_not(None)
    )
    own_id = select(ConversationRow.owner_id, cast(ConversationRow.id, String)).where(
        ConversationRow.id == conversation_id
    )
    columns = ["owner_id", "idempotency_key"]
    spend = insert(SpentKeyRow).from_select(columns, of_turns.union(own_id))
    owners = select(TurnRow.owner_id).where(TurnRow.conversation_id == conversation_id)
    too_old = SpentKeyRow.spent_at < func.clock_timestamp() - timedelta(days=KEPT_DAYS)
    session.execute(delete(SpentKeyRow).where(SpentKeyRow.owner_id.in_(owners), too_old))
    session.execute(spend.on_conflict_do_nothing())
    session.execute(delete(ConversationRow).where(ConversationRow.id == conversation_id))
    of_session = GrantRow.resource_type == Resource.SESSION
    is_this = GrantRow.resource_id == str(conversation_id)
    session.execute(delete(GrantRow).where(of_session, is_this))


def _give_artifacts(session: Session, conversation_id: UUID) -> None:
    """Give each artifact to the oldest of the conversations that name it in copied messages.

    These continue it, or one of its tasks, or one of those that it continues itself.
    """
    has_some = select(ArtifactRow.id).where(ArtifactRow.conversation_id == conversation_id).exists()
    home = session.execute(
        select(ConversationRow.owner_id, ConversationRow.metadata_)
        .where(ConversationRow.id == conversation_id)
        .where(has_some)  # otherwise nothing else is read: all sessions of the owner are many
    ).one_or_none()
    if home is None:
        return
    tasks = [str(task) for task in children_of(session, conversation_id)]
    shown_by = [str(conversation_id), *tasks, *home.metadata_.get(CONTINUES, [])]
    continuing = (
        select(ConversationRow.id)
        .where(ConversationRow.owner_id == home.owner_id, ConversationRow.id != conversation_id)
        .where(ConversationRow.metadata_[CONTINUES].has_any(array(shown_by)))
        .order_by(ConversationRow.created_at)
        .with_for_update(read=True, key_share=True)  # so that none of them is deleted meanwhile
    )
    for heir in session.scalars(continuing).all():
        copied = copied_contents(heir).subquery()
        named = select(func.unnest(func.regexp_matches(copied.c.content, _UUID, "g")))
        session.execute(
            update(ArtifactRow)
            .where(ArtifactRow.conversation_id == conversation_id)
            .where(cast(ArtifactRow.id, String).in_(named))
            .values(conversation_id=heir)
        )


def copied_contents(conversation_id: UUID) -> Select[str]:
    """Return the query of copied contents that may name artifacts, as text, labelled `content`.

    They show an artifact, link to it or, as results of plans do, list those of their tasks. What
    people wrote and what agents asked for names artifacts without giving access to them.
    """
    row = DisplayMessageRow
    content = cast(row.content, String)
    return (
        select(content.label("content"))
        .where(row.conversation_id == conversation_id, row.turn_id.is_(None))
        .where(row.message_type != MessageType.USER, row.content_type != ContentType.TOOL_CALL)
        .where(content.contains("artifact"))
        .where(_continues_some(conversation_id))
    )


def _continues_some(conversation_id: UUID) -> ColumnElement[bool]:
    """Match if the conversation has copied messages: imported ones give access to nothing."""
    row = ConversationRow
    named = select(row.id).where(row.id == conversation_id, row.metadata_.has_key(CONTINUES))
    return named.exists()


def children_of(session: Session, conversation_id: UUID) -> list[UUID]:
    """Return the conversations that run tasks of this one, which are deleted with it."""
    query = select(ConversationRow.id).where(ConversationRow.parent_id == conversation_id)
    return list(session.scalars(query.order_by(ConversationRow.id)))


def plan_deletion(session: Session, conversation_id: UUID, seconds: float) -> None:
    """Have a conversation deleted after so many seconds, with those of its tasks.

    The due time is one of the database's clock. The caller holds the conversation.
    """
    due = func.clock_timestamp() + timedelta(seconds=seconds)
    _set_due(session, conversation_id, due)


def undo_deletion(session: Session, conversation_id: UUID) -> None:
    """Keep a conversation that was to be deleted. The caller holds it."""
    _set_due(session, conversation_id, null())


def _set_due(session: Session, conversation_id: UUID, due: ColumnElement[Any]) -> None:
    row = ConversationRow
    is_part = or_(row.id == conversation_id, row.parent_id == conversation_id)
    session.execute(update(row).where(is_part).values(deletes_at=due))


def list_due(session: Session, limit: int) -> list[UUID]:
    """Return the conversations whose deletion is due; those of tasks are deleted with them."""
    row = ConversationRow
    query = select(row.id).where(row.deletes_at <= func.clock_timestamp(), row.parent_id.is_(None))
    return list(session.scalars(query.order_by(row.deletes_at).limit(limit)))


def hold_due(session: Session, conversation_id: UUID) -> ConversationRow:
    """Lock a conversation whose deletion is due. Raise SessionNotFound, also if it was undone."""
    row = ConversationRow
    is_due = row.deletes_at <= func.clock_timestamp()
    query = select(row).where(row.id == conversation_id, is_due).with_for_update(key_share=True)
    if (held := session.scalar(query)) is None:
        raise SessionNotFound
    return held


def hold_children(session: Session, conversation_id: UUID) -> list[UUID]:
    """Lock the conversations of its tasks and return their ids.

    They are locked before its own, because moving a plan locks them first.
    """
    query = select(ConversationRow.id).where(ConversationRow.parent_id == conversation_id)
    held = query.order_by(ConversationRow.id).with_for_update(key_share=True)
    return list(session.scalars(held))


def is_spent(session: Session, owner_id: str, key: str) -> bool:
    """Return whether the key started a turn that has since been deleted."""
    return session.get(SpentKeyRow, (owner_id, key)) is not None
