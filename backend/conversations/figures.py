"""What the sessions of a page have used, and what people think of them: for reviewers."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, Float, cast, func, select
from sqlalchemy.orm import Session

from backend.conversations.session_turns import of_latest_turn
from backend.schemas.conversations.sessions import SessionFigures
from backend.schemas.conversations.turns import TurnStatus
from db.models.conversations.conversation import ConversationRow
from db.models.people.user import TeamRow, UserRow
from db.models.turns.feedback import FeedbackRow
from db.models.turns.turn import TurnRow

UP, DOWN = "up", "down"


def read_figures(session: Session, ids: Sequence[UUID]) -> dict[UUID, tuple[str, SessionFigures]]:
    """Return the owner's name and the figures of each of these sessions, in three queries."""
    used = _by_session(session, _USED.where(TurnRow.conversation_id.in_(ids)))
    rated = _by_session(session, _RATED.where(FeedbackRow.conversation_id.in_(ids)))
    found: dict[UUID, tuple[str, SessionFigures]] = {}
    for row in session.execute(_OF_SESSIONS.where(ConversationRow.id.in_(ids))):
        figures = {**_NOTHING, **used.get(row.id, {}), **rated.get(row.id, {})}
        figures |= {"team": row.team, "agent": row.agent}
        found[row.id] = (row.owner_name, SessionFigures(**figures))
    return found


def has_errors() -> ColumnElement[bool]:
    """Match the sessions of which a turn has failed."""
    failed = select(TurnRow.conversation_id).where(TurnRow.status == TurnStatus.FAILED)
    return ConversationRow.id.in_(failed)


def has_thumbs_down() -> ColumnElement[bool]:
    """Match the sessions of which somebody disliked an answer."""
    disliked = select(FeedbackRow.conversation_id).where(FeedbackRow.rating == DOWN)
    return ConversationRow.id.in_(disliked)


def _by_session(session: Session, query: Any) -> dict[UUID, dict[str, Any]]:
    rows = session.execute(query.group_by("id")).mappings()
    return {row["id"]: {name: row[name] for name in row if name != "id"} for row in rows}


def _sum(*names: str) -> Any:
    kind = Float if names == ("cost",) else BigInteger
    figures = [cast(func.coalesce(TurnRow.usage[name].as_string(), "0"), kind) for name in names]
    return cast(func.sum(sum(figures[1:], figures[0])), kind)


def _count(condition: ColumnElement[bool]) -> Any:
    return func.count().filter(condition)


_NOTHING = {"tokens": 0, "cost": 0.0, "errors": 0, "thumbs_up": 0, "thumbs_down": 0}
_USED = select(
    TurnRow.conversation_id.label("id"),
    _sum("input_tokens", "output_tokens").label("tokens"),
    _sum("cost").label("cost"),
    _count(TurnRow.status == TurnStatus.FAILED).label("errors"),
)
_RATED = select(
    FeedbackRow.conversation_id.label("id"),
    _count(FeedbackRow.rating == UP).label("thumbs_up"),
    _count(FeedbackRow.rating == DOWN).label("thumbs_down"),
)
_OF_SESSIONS = (
    select(
        ConversationRow.id,
        func.coalesce(UserRow.name, ConversationRow.owner_id).label("owner_name"),
        func.coalesce(TeamRow.name, ConversationRow.team).label("team"),
        of_latest_turn(TurnRow.agent).label("agent"),
    )
    .outerjoin(UserRow, UserRow.id == ConversationRow.owner_id)
    .outerjoin(TeamRow, TeamRow.id == ConversationRow.team)
)
