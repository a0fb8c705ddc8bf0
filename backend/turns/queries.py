"""Reading turns: one turn in its wire form, and the order of a session's queue."""

from typing import Any
from uuid import UUID

from sqlalchemy import Float, Row, bindparam, cast, func, select, update
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations.service import exists_still, visible_to
from backend.errors.turns import TurnNotFound
from backend.schemas.conversations.sessions import EventContext
from backend.schemas.conversations.turns import (
    ErrorSummary,
    ModelWait,
    Route,
    Turn,
    TurnState,
    TurnStatus,
    Usage,
    WaitsFor,
)
from backend.schemas.people.rights import Permission
from backend.turns.lifecycle import UNFINISHED, check_transition, statuses_before
from backend.usage.spent import Spent
from db.models.conversations.conversation import ConversationRow
from db.models.planning.plan import PlanRow
from db.models.turns.turn import TurnRow


def seconds_between(later: Any, earlier: Any) -> Any:
    """Return the seconds between two moments, as SQL."""
    return cast(func.extract("epoch", later - earlier), Float)


# By the database's clock: since the worker's last heartbeat, until the end of its lease, and until
# its model is asked again, and why; one query because a turn's row may be from a moment before.
HEARTBEAT_COLUMNS = (
    seconds_between(func.clock_timestamp(), TurnRow.heartbeat_at).label("heartbeat"),
    seconds_between(TurnRow.lease_until, func.clock_timestamp()).label("lease"),
    seconds_between(TurnRow.model_retry_at, func.clock_timestamp()).label("model_wait"),
    func.coalesce(TurnRow.model_retry_reason, "").label("model_reason"),
)


def find_turn(
    session: Session, scope: Scope, turn_id: UUID, unless: Permission | None = None
) -> TurnRow:
    """Return a turn of a session that the caller may read. Raise TurnNotFound, also for others'.

    `unless`: who has this permission gets any turn.
    """
    is_allowed = unless is not None and scope.has(unless)
    row = session.scalar(
        select(TurnRow)
        .join(ConversationRow, ConversationRow.id == TurnRow.conversation_id)
        .where(TurnRow.id == turn_id, exists_still() if is_allowed else visible_to(scope))
    )
    if row is None:
        raise TurnNotFound
    return row


def list_unfinished(session: Session, conversation_id: UUID) -> list[TurnRow]:
    """Return a conversation's unfinished turns in order: the first is active or next."""
    return list(
        session.scalars(
            select(TurnRow)
            .where(TurnRow.conversation_id == conversation_id, TurnRow.status.in_(UNFINISHED))
            .order_by(TurnRow.number)
        )
    )


def count_unfinished(session: Session, conversation_id: UUID) -> int:
    """Return how many turns of a conversation are not finished."""
    return session.execute(_COUNT_UNFINISHED, {"conversation": conversation_id}).scalar_one()


def latest_turn(session: Session, conversation_id: UUID) -> TurnRow | None:
    """Return the conversation's newest turn, finished or not."""
    return session.scalar(
        select(TurnRow)
        .where(TurnRow.conversation_id == conversation_id)
        .order_by(TurnRow.number.desc())
        .limit(1)
    )


def next_turn_id(session: Session, conversation_id: UUID) -> UUID | None:
    """Return the queued turn that may run; None while another one is active or none waits."""
    first = session.execute(_FIRST, {"conversation": conversation_id}).one_or_none()
    return first.id if first and first.status == TurnStatus.QUEUED else None


def change_turn(session: Session, row: TurnRow, **values: Any) -> None:
    """Update a turn's row and read the result back in one round trip.

    Raise RuntimeError for a status that cannot follow the current one.
    """
    if "status" in values:
        check_transition(TurnStatus(row.status), values["status"])
    session.execute(
        update(TurnRow).where(TurnRow.id == row.id).values(**values).returning(TurnRow),
        execution_options={"populate_existing": True},
    ).scalar_one()


def let_wait(session: Session, turn_id: UUID, waits_for: WaitsFor) -> None:
    """Make a running turn wait, which releases its worker."""
    session.execute(
        update(TurnRow)
        .where(TurnRow.id == turn_id, TurnRow.status.in_(statuses_before(TurnStatus.WAITING)))
        .values(
            status=TurnStatus.WAITING,
            worker=None,
            lease_until=None,
            decided_at=None,
            waits_for=waits_for,
        )
        .execution_options(synchronize_session=False)
    )


def turn_of(session: Session, row: TurnRow) -> Turn:
    """Return the turn's wire form, with its queue place or, while running, its heartbeat."""
    before = signs = None
    if row.status == TurnStatus.RUNNING:
        signs = session.execute(select(*HEARTBEAT_COLUMNS).where(TurnRow.id == row.id)).one()
    if row.status == TurnStatus.QUEUED:
        before = session.scalar(
            select(func.count())
            .where(TurnRow.conversation_id == row.conversation_id)
            .where(TurnRow.status.in_(UNFINISHED), TurnRow.number < row.number)
        )
    return wire_turn(row, before, signs)


def wire_turn(
    row: TurnRow | Row[Any], before: int | None = None, signs: Row[Any] | None = None
) -> Turn:
    """Return the turn's wire form.

    `before` is its place in the queue, `signs` has the HEARTBEAT_COLUMNS.
    """
    return Turn(
        **state_of(row, signs).model_dump(),
        id=row.id,
        session_id=row.conversation_id,
        status=TurnStatus(row.status),
        agent=row.agent,
        model=row.model,
        waits_for=row.waits_for if row.status == TurnStatus.WAITING else None,
        route=Route.read(row.route) if row.route else None,
        message=row.message,
        usage=Usage.read(row.usage),
        usage_by_model=dict(Spent.read(row.usage).by_model),
        error=ErrorSummary.read(row.error) if row.error else None,
        fork_of=row.fork_of,
        queue_position=before,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def state_of(row: TurnRow | Row[Any], signs: Row[Any] | None) -> TurnState:
    """Return what shows a turn's actual state; `signs` has the HEARTBEAT_COLUMNS."""
    state = TurnState(
        attempts=row.attempt,
        steps=row.steps,
        stop_requested=row.stop_requested,
        losses=row.losses,
        model_retries=row.model_retries,
    )
    if signs is None or row.status != TurnStatus.RUNNING:
        return state
    state.heartbeat_seconds, state.lease_seconds = signs.heartbeat, signs.lease
    if signs.model_wait is not None and signs.model_wait > 0:
        state.model_wait = ModelWait(seconds=signs.model_wait, reason=signs.model_reason)
    return state


def context_of(session: Session, row: TurnRow) -> EventContext:
    """Return where the turn's events belong. Raise TurnNotFound when the conversation is gone."""
    return context_in(conversation_of(session, row), row)


def conversation_of(
    session: Session, row: TurnRow
) -> Row[UUID | None, UUID, str, UUID | None, str | None, bool]:
    """Return the turn's domain (id and name), its image, its team, and how it relates to plans.

    `parent_id` is set in a task's session; `has_plans`: some plans it started have not ended.

    Raise TurnNotFound as `context_of`.
    """
    of_turn = {"conversation": row.conversation_id, "turn": row.id}
    conversation = session.execute(_PLACE, of_turn).one_or_none()
    if conversation is None:
        raise TurnNotFound
    return conversation


def context_in(
    conversation: ConversationRow | Row[Any] | Row[Any, Any, Any, Any, Any, Any],
    row: TurnRow | Row[Any],
) -> EventContext:
    """Return where the turn's events belong, from a conversation that is already loaded."""
    return EventContext(
        domain_id=conversation.domain_id,
        session_id=row.conversation_id,
        image_id=conversation.image_id,
        agent_id=row.agent,
        turn_id=row.id,
    )


# Built once: it runs whenever a turn ends.
_FIRST = (
    select(TurnRow.id, TurnRow.status)
    .where(TurnRow.conversation_id == bindparam("conversation"))
    .where(TurnRow.status.in_(UNFINISHED))
    .order_by(TurnRow.number)
    .limit(1)
)
_COUNT_UNFINISHED = (
    select(func.count())
    .select_from(TurnRow)
    .where(TurnRow.conversation_id == bindparam("conversation"))
    .where(TurnRow.status.in_(UNFINISHED))
)
_OPEN_PLAN = select(PlanRow.id).where(
    PlanRow.turn_id == bindparam("turn"), PlanRow.status.in_(("running", "waiting"))
)
_PLACE = select(
    ConversationRow.domain_id,
    ConversationRow.image_id,
    ConversationRow.domain_name,
    ConversationRow.parent_id,
    ConversationRow.team,
    _OPEN_PLAN.exists().label("has_plans"),
).where(ConversationRow.id == bindparam("conversation"))
