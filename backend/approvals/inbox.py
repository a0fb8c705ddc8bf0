"""The approvals that a person may see: one, or pages of them across sessions."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, func, select, tuple_
from sqlalchemy.orm import Session, aliased

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.lists import listed_ids
from backend.conversations.service import listed_to, visible_to
from backend.cursor import decode_time_and_id, encode_cursor
from backend.errors.approvals import ApprovalNotFound
from backend.schemas.approvals import Approval, ApprovalPage, ApprovalStatus, Decision, DecisionType
from backend.schemas.people.rights import Permission, Right
from db.models.conversations.conversation import ConversationRow
from db.models.turns.approval import ApprovalRow
from db.models.turns.turn import TurnRow

MESSAGE_CHARS = 500


def find_approval(session: Session, scope: Scope, approval_id: UUID) -> Approval:
    """Return one approval. Raise ApprovalNotFound, also for those of another owner's sessions."""
    query = _approvals().where(ApprovalRow.id == approval_id, visible_to(scope))
    row = session.execute(query).one_or_none()
    if row is None:
        raise ApprovalNotFound
    return _wire(scope, row)


def may_make(scope: Scope, asker: str, decision: DecisionType) -> bool:
    """Return whether somebody may decide so on a call of a turn that this person asked.

    An edited call runs with the asker's rights, so nobody else chooses what it is given.
    """
    return decision is not DecisionType.EDIT or scope.user_id == asker


def find_row(session: Session, scope: Scope, approval_id: UUID) -> ApprovalRow:
    """Return an approval's row.

    Raise ApprovalNotFound, also for those of another owner.
    """
    find_approval(session, scope, approval_id)
    row = session.get(ApprovalRow, approval_id, populate_existing=True)
    if row is None:
        raise ApprovalNotFound
    return row


def lock_approval(session: Session, scope: Scope, approval_id: UUID) -> ApprovalRow:
    """Lock an approval's conversation and return its current row. Raise ApprovalNotFound."""
    conversation_id = find_approval(session, scope, approval_id).session_id
    conversations.lock(session, scope, conversation_id)
    return find_row(session, scope, approval_id)


def list_approvals(
    session: Session,
    scope: Scope,
    status: ApprovalStatus | None,
    *,
    everyone: bool,
    cursor: str | None,
    limit: int,
) -> ApprovalPage:
    """Return one keyset page: pending approvals oldest first, all others newest first.

    Raise NotAllowed if a member asks for everyone's, InvalidInput for a cursor that is unknown or
    belongs to the other order.
    """
    if everyone:
        scope.require(Permission.REVIEW_SESSIONS)
    place = tuple_(ApprovalRow.created_at, ApprovalRow.id)
    oldest_first = status is ApprovalStatus.PENDING
    order_name = "approvals, oldest first" if oldest_first else "approvals, newest first"
    query = _approvals().where(_is_listed(scope, everyone))
    if status is not None:
        query = query.where(ApprovalRow.status == status)
    if cursor:
        after = decode_time_and_id(cursor, order_name)
        query = query.where(place > after if oldest_first else place < after)
    columns = (ApprovalRow.created_at, ApprovalRow.id)
    order = columns if oldest_first else tuple(column.desc() for column in columns)
    rows = session.execute(query.order_by(*order).limit(limit + 1)).all()
    items = [_wire(scope, row) for row in rows[:limit]]
    last = items[-1] if len(rows) > limit else None
    return ApprovalPage(
        items=items,
        next_cursor=encode_cursor(order_name, last.created_at, last.id) if last else None,
    )


def count_pending(session: Session, scope: Scope, *, everyone: bool) -> int:
    """Return how many calls wait for the caller.

    Raise NotAllowed if a member asks for everyone's.
    """
    if everyone:
        scope.require(Permission.REVIEW_SESSIONS)
    query = (
        select(func.count())
        .select_from(ApprovalRow)
        .join(ConversationRow, ConversationRow.id == ApprovalRow.conversation_id)
        .where(ApprovalRow.status == ApprovalStatus.PENDING)
        .where(_is_listed(scope, everyone))
    )
    return session.scalar(query) or 0


def _is_listed(scope: Scope, everyone: bool) -> ColumnElement[bool]:
    if everyone:
        return listed_to(scope, everyone=True)
    return ApprovalRow.conversation_id.in_(listed_ids(scope, Right.CONTINUE))


def _approvals() -> Select[Any]:
    parent = aliased(ConversationRow)
    return (
        select(
            ApprovalRow,
            ConversationRow.title,
            parent.title.label("parent_title"),
            ConversationRow.owner_id,
            TurnRow.owner_id.label("asker"),
            TurnRow.agent,
            func.left(TurnRow.message, MESSAGE_CHARS).label("message"),
        )
        .join(ConversationRow, ConversationRow.id == ApprovalRow.conversation_id)
        .join(TurnRow, TurnRow.id == ApprovalRow.turn_id)
        .outerjoin(parent, parent.id == ConversationRow.parent_id)
        .execution_options(populate_existing=True)
    )


def _wire(scope: Scope, found: Row[Any]) -> Approval:
    row: ApprovalRow = found.ApprovalRow
    allowed = [DecisionType(one) for one in row.request["allowed_decisions"]]
    return Approval(
        id=row.id,
        session_id=row.conversation_id,
        session_title=found.title,
        parent_title=found.parent_title,
        owner=found.owner_id,
        turn_id=row.turn_id,
        agent=found.agent,
        message=found.message,
        position=row.position,
        call_id=row.call_id,
        name=row.tool,
        arguments=row.arguments,
        arguments_hash=row.arguments_hash,
        description=row.request["description"],
        allowed_decisions=[one for one in allowed if may_make(scope, found.asker, one)],
        args_schema=row.request["args_schema"],
        status=ApprovalStatus(row.status),
        decision=Decision.read(row.decision) if row.decision else None,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        expires_at=row.expires_at,
        created_at=row.created_at,
    )
