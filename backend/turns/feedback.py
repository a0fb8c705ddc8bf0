"""Feedback: what people think of a turn's answer, given by them and read by reviewers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, delete, func, select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.scope import Scope
from backend.conversations.service import exists_still
from backend.cursor import decode_cursor, encode_cursor
from backend.errors.base import InvalidInput
from backend.errors.turns import TurnUnfinished
from backend.schemas.conversations.feedback import (
    Feedback,
    FeedbackPage,
    GivenFeedback,
    NewFeedback,
    Rating,
)
from backend.schemas.conversations.turns import TurnStatus
from backend.schemas.people.rights import Permission
from backend.turns.lifecycle import is_finished
from backend.turns.queries import find_turn
from colloquy_kit.messages.clean import clean_text
from db.models.conversations.conversation import ConversationRow
from db.models.people.user import UserRow
from db.models.turns.feedback import FeedbackRow

MAX_PAGE = 200
MAX_EXPORTED = 50_000
ORDER = "feedback"


_PLACE = (FeedbackRow.created_at, FeedbackRow.turn_id, FeedbackRow.user_id)
_PLACE_KINDS = (datetime.fromisoformat, UUID, str)


@dataclass(frozen=True)
class FeedbackFilter:
    """Which feedback to list."""

    rating: Rating | None = None
    since: datetime | None = None


def give(session: Session, scope: Scope, turn_id: UUID, new: NewFeedback) -> Feedback:
    """Rate a turn's answer; the caller's earlier rating of it is replaced.

    Who only reviews a session changes nothing in it. Raise TurnNotFound, TurnUnfinished.
    """
    turn = find_turn(session, scope.without_reviews(), turn_id)
    if not is_finished(TurnStatus(turn.status)):
        raise TurnUnfinished
    values = {
        "rating": new.rating,
        "comment": clean_text(new.comment).strip(),
        "created_at": func.clock_timestamp(),
    }
    row = FeedbackRow
    giving = insert(row).values(
        turn_id=turn_id,
        user_id=scope.user_id,
        conversation_id=turn.conversation_id,
        **values,
    )
    own = giving.on_conflict_do_update(index_elements=["turn_id", "user_id"], set_=values)
    stored = session.execute(own.returning(row.rating, row.comment, row.created_at)).one()
    return Feedback(**stored._mapping)


def take_back(session: Session, scope: Scope, turn_id: UUID) -> None:
    """Delete the caller's rating of a turn; without one, nothing changes. Raise TurnNotFound."""
    find_turn(session, scope.without_reviews(), turn_id)
    row = FeedbackRow
    session.execute(delete(row).where(row.turn_id == turn_id, row.user_id == scope.user_id))


def list_given(
    session: Session, scope: Scope, wanted: FeedbackFilter, *, cursor: str | None, limit: int
) -> FeedbackPage:
    """Return one keyset page of everybody's feedback, the latest first. Raise NotAllowed."""
    scope.require(Permission.REVIEW_SESSIONS)
    row, limit = FeedbackRow, max(1, min(limit, MAX_PAGE))
    matches = _matches(wanted)
    query = _given(matches).limit(limit + 1)
    if cursor:
        query = query.where(tuple_(*_PLACE) < decode_cursor(cursor, ORDER, *_PLACE_KINDS))
    rows = session.execute(query).all()
    last = rows[limit - 1] if len(rows) > limit else None
    of_rating = select(row.rating, func.count()).join(ConversationRow).where(*matches)
    counts = dict(session.execute(of_rating.group_by(row.rating)).tuples().all())
    return FeedbackPage(
        items=_items(rows[:limit]),
        up=counts.get(Rating.UP, 0),
        down=counts.get(Rating.DOWN, 0),
        next_cursor=(
            encode_cursor(ORDER, last.created_at, last.turn_id, last.user_id) if last else None
        ),
    )


def export_given(session: Session, scope: Scope, wanted: FeedbackFilter) -> dict[str, Any]:
    """Return everybody's feedback as a table, the latest first. Raise NotAllowed, InvalidInput."""
    scope.require(Permission.REVIEW_SESSIONS)
    found = _items(session.execute(_given(_matches(wanted)).limit(MAX_EXPORTED + 1)).all())
    if len(found) > MAX_EXPORTED:
        raise InvalidInput(
            f"There are more than {MAX_EXPORTED:,} of these. Ask for a later `since`."
        )
    audit.record(session, scope.user_id, "exported", "feedback", "all", {"count": len(found)})
    names = tuple(GivenFeedback.model_fields)
    rows = [[str(getattr(one, name)) for name in names] for one in found]
    return {"columns": [{"name": name} for name in names], "rows": rows}


def _matches(wanted: FeedbackFilter) -> Sequence[ColumnElement[bool]]:
    row, matches = FeedbackRow, [exists_still()]
    if wanted.rating is not None:
        matches.append(row.rating == wanted.rating)
    if wanted.since is not None:
        matches.append(row.created_at >= wanted.since)
    return matches


def _given(matches: Sequence[ColumnElement[bool]]) -> Select[Any]:
    row = FeedbackRow
    columns: list[Any] = [
        row.turn_id,
        row.conversation_id.label("session_id"),
        row.user_id,
        func.coalesce(UserRow.name, row.user_id).label("name"),
        row.rating,
        row.comment,
        row.created_at,
    ]
    return (
        select(*columns)
        .join(ConversationRow, ConversationRow.id == row.conversation_id)
        .outerjoin(UserRow, UserRow.id == row.user_id)
        .where(*matches)
        .order_by(*(column.desc() for column in _PLACE))
    )


def _items(rows: Sequence[Any]) -> list[GivenFeedback]:
    return [GivenFeedback(**row._mapping) for row in rows]
