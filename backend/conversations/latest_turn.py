"""The latest turn that a session shows, as SQL: only its active branch counts."""

from typing import Any

from sqlalchemy import ScalarSelect, cast, func, or_, select
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.orm import InstrumentedAttribute, aliased

from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow

_IN_A_RANGE = "strict $[*] ? (@[0] <= $position && (@[1] == null || @[1] >= $position))"


def of_latest_turn(column: InstrumentedAttribute[Any]) -> ScalarSelect[Any]:
    """Return a column of each conversation's latest turn on its active branch.

    A turn whose message waits behind another, or was withdrawn, counts on every branch.
    """
    turn = aliased(TurnRow)
    position = func.jsonb_build_object("position", turn.message_position)
    is_shown = or_(
        ConversationRow.path.is_(None),
        turn.message_position.is_(None),
        func.jsonb_path_exists(ConversationRow.path, cast(_IN_A_RANGE, JSONPATH), position),
    )
    return (
        select(getattr(turn, column.key))
        .where(turn.conversation_id == ConversationRow.id, is_shown)
        .order_by(turn.number.desc())
        .limit(1)
        .correlate(ConversationRow)
        .scalar_subquery()
    )
