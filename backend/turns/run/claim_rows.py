"""The rows of a claim: locked together, and written in one statement by the database's clock."""

from typing import NamedTuple, cast
from uuid import UUID

from sqlalchemy import Float, Integer, Table, bindparam, func, or_, select, text, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from backend.connections.store import NEWEST_NUMBER
from backend.schemas.conversations.turns import TurnStatus
from backend.turns.queries import seconds_between
from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow


class LockedTurn(NamedTuple):
    """A turn and its conversation, locked; and the number of the saved connection to models.

    `lease_is_over`: the turn's lease had expired once both were locked.
    """

    conversation: ConversationRow
    turn: TurnRow
    lease_is_over: bool
    connection: int | None


def lock_turn(session: Session, turn_id: UUID) -> LockedTurn | None:
    """Lock the turn's conversation, then the turn, which is read once both are locked."""
    row = session.execute(_LOCK, {"turn_id": turn_id}).one_or_none()
    return None if row is None else LockedTurn(*row.tuple())


def lease_is_over(session: Session, turn: TurnRow) -> bool:
    """Return whether the turn's lease has expired, by the database's clock."""
    return bool(session.scalar(select(_LEASE_IS_OVER).where(TurnRow.id == turn.id)))


def write_claim(
    session: Session, turn: TurnRow, worker: str, lease_seconds: float, losses: int
) -> float | None:
    """Write the claim; return for how long no worker held the turn, if that is known.

    `losses`: how many workers were lost in a row, if the turn has just lost one.
    """
    lost_before, has_sign = turn.lost_seconds, turn.heartbeat_at is not None
    taken = {
        "turn_id": turn.id,
        "by": worker,
        "lease": lease_seconds,
        "loss": int(losses > 0),
        "in_row": losses or turn.losses_in_row,
        "lost_at": turn.steps if losses else turn.lost_at_step,
        "entered": turn.message_position,
    }
    for name, value in session.execute(_TAKE, taken).mappings().one().items():
        set_committed_value(turn, name, value)
    return turn.lost_seconds - lost_before if has_sign else None


# Built once, as below: after losing a worker, hundreds of turns are claimed in a second.
_CLOCK = func.clock_timestamp()
_LEASE_IS_OVER = or_(TurnRow.lease_until.is_(None), TurnRow.lease_until < _CLOCK)
_LOCK = (
    select(ConversationRow, TurnRow, _LEASE_IS_OVER, NEWEST_NUMBER)
    .join(TurnRow, TurnRow.conversation_id == ConversationRow.id)
    .where(TurnRow.id == bindparam("turn_id"))
    .with_for_update(key_share=True)
)

_turns = cast(Table, TurnRow.__table__)
_LOSS = bindparam("loss", type_=Integer)
_SILENCE = func.greatest(func.coalesce(seconds_between(_CLOCK, _turns.c.heartbeat_at), 0), 0)
# What is written for a loss after which the turn is given up.
LAST_LOSS = {
    "losses": _turns.c.losses + 1,
    "lost_at_step": _turns.c.steps,
    "lost_seconds": _turns.c.lost_seconds + _SILENCE,
}
_TAKEN = {
    "status": TurnStatus.RUNNING,
    "attempt": _turns.c.attempt + 1,
    "losses": _turns.c.losses + _LOSS,
    "losses_in_row": bindparam("in_row", type_=Integer),
    "lost_at_step": bindparam("lost_at", type_=Integer),
    "worker": bindparam("by"),
    "heartbeat_at": _CLOCK,
    "lost_seconds": _turns.c.lost_seconds + _LOSS * _SILENCE,
    "model_retry_at": None,
    "waits_for": None,
    "lease_until": _CLOCK + bindparam("lease", type_=Float) * text("interval '1 second'"),
    "started_at": func.coalesce(_turns.c.started_at, _CLOCK),
    "message_position": bindparam("entered"),
}
# By the table, not the class: the class would read all columns back over unflushed changes, such as
# the version made by the message of a turn that had to wait.
_TAKE = (
    update(_turns)
    .where(_turns.c.id == bindparam("turn_id"))
    .values(_TAKEN)
    .returning(*(_turns.c[name] for name in _TAKEN))
)
