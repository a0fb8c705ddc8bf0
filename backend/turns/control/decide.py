"""Deciding on pending tool calls: by people, once each, or by expiry when no one did in time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend import audit
from backend.approvals.allowed_tools import allow_tool
from backend.approvals.inbox import find_approval, find_row, lock_approval, may_make
from backend.approvals.rules import check_decision, refuse_misfits
from backend.approvals.store import answer, latest_of, pending_of, read_clock, requeue_if_decided
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations import views
from backend.domains.team import specialists_for
from backend.domains.template import template_of
from backend.errors.approvals import AlreadyDecided, NothingToDecide
from backend.errors.base import InvalidInput, NotAllowed
from backend.logs.fields import only_fields
from backend.schemas.approvals import Approval, ApprovalStatus, Decision
from backend.schemas.conversations.sessions import DisplayMessage, EventContext
from backend.schemas.conversations.turns import Turn
from backend.schemas.events import MessageAdded, MessageUpdated
from backend.text import counted
from backend.tools.planning import PLAN_TOOLS, FaultyPlan, read_plan
from backend.tools.validation import cut_reason
from backend.turns.plan.graph_rows import PlanChanges
from backend.turns.plan.moving import find_running_task
from backend.turns.plan.publish import publish_plan_changes
from backend.turns.process.services import Services
from backend.turns.queries import context_of, find_turn, turn_of
from backend.types import JSON
from colloquy_kit.messages.display import notice
from db.failpoints import failpoint
from db.models.conversations.conversation import ConversationRow
from db.models.turns.approval import ApprovalRow
from db.models.turns.turn import TurnRow

BATCH = 200
TAKEN_BACK = "The turn that asked has ended, so there is nothing left to decide."


@dataclass
class _Decided:
    """What a decision changed, for viewers; `goes_on`: the turn no longer waits for anyone."""

    turn: Turn
    context: EventContext
    goes_on: bool = False
    task: PlanChanges | None = None  # the task that the turn's session works on
    updated: list[DisplayMessage] = field(default_factory=list)
    added: list[DisplayMessage] = field(default_factory=list)


def decide_turn(
    services: Services, scope: Scope, turn_id: UUID, decisions: Sequence[Decision]
) -> Turn:
    """Answer all pending calls of a turn, in order; repeating the same answers changes nothing.

    Raise TurnNotFound, NothingToDecide, AlreadyDecided, ArgumentsChanged, InvalidInput, NotAllowed.
    """
    with services.database.read() as session:
        _check_may(scope, find_turn(session, scope, turn_id), decisions)
        asking = pending_of(session, turn_id)
    refuse_misfits(services.sandbox, asking, decisions, scope.user_id)
    with services.database.transaction() as session:
        turn = find_turn(session, scope, turn_id)
        conversations.lock(session, scope, turn.conversation_id)
        session.refresh(turn)
        pending = pending_of(session, turn_id)
        if not pending:
            _check_repeated(scope, latest_of(session, turn_id), decisions)
            return turn_of(session, turn)
        if len(pending) != len(decisions):
            sent, calls = counted(len(decisions), "decision"), counted(len(pending), "waiting call")
            raise InvalidInput(f"You sent {sent} for {calls}. Send one for each, in order.")
        checked = [check_decision(*pair) for pair in zip(pending, decisions, strict=True)]
        decided = _decide(session, scope, turn, list(zip(pending, checked, strict=True)))
    _tell(services, decided)
    return decided.turn


def decide_call(
    services: Services, scope: Scope, approval_id: UUID, decision: Decision
) -> Approval:
    """Answer one call; answering the last one resumes the turn. Repeating it changes nothing.

    Raise ApprovalNotFound, AlreadyDecided, ArgumentsChanged, InvalidInput, NotAllowed.
    """
    decided = None
    with services.database.read() as session:
        asking = find_row(session, scope, approval_id)
        _check_may(scope, find_turn(session, scope, asking.turn_id), [decision])
    refuse_misfits(services.sandbox, [asking], [decision], scope.user_id)
    with services.database.transaction() as session:
        row = lock_approval(session, scope, approval_id)
        if row.status == ApprovalStatus.PENDING:
            turn = find_turn(session, scope, row.turn_id)
            decided = _decide(session, scope, turn, [(row, check_decision(row, decision))])
        else:
            _check_repeated(scope, [row], [decision])
        approval = find_approval(session, scope, approval_id)
    if decided:
        _tell(services, decided)
    return approval


def _check_may(scope: Scope, turn: TurnRow, decisions: Sequence[Decision]) -> None:
    """Raise NotAllowed for an edit of a call that somebody else has asked for."""
    if not all(may_make(scope, turn.owner_id, one.type) for one in decisions):
        raise NotAllowed(
            "Only who asked may change what a call is given: it runs with their rights. Approve or"
            " reject it, or ask yourself."
        )


def expire_due(services: Services) -> list[UUID]:
    """Expire calls not decided in time by the database's clock; return their turns' ids."""
    with services.database.read() as session:
        turn_ids = list(session.scalars(_DUE))
    for turn_id in turn_ids:
        with only_fields(turn=turn_id):
            with services.database.transaction() as session:
                decided = _expire(session, turn_id)
            if decided:
                _tell(services, decided)
    return turn_ids


def _decide(
    session: Session, scope: Scope, turn: TurnRow, decided: Sequence[tuple[ApprovalRow, JSON]]
) -> _Decided:
    """Write the decisions; the caller holds the conversation."""
    now = read_clock(session)
    if any(_is_due(row, now) for row, _ in decided):
        raise AlreadyDecided("The time to decide is over, so the call is not run.")
    for row, decision in decided:
        if row.tool in PLAN_TOOLS and "edited_action" in decision:
            _refuse_faulty_plan(session, turn, row.tool, decision["edited_action"]["args"])
    updated, notices = [], []
    for row, decision in decided:
        updated.append(answer(session, row, ApprovalStatus.DECIDED, decision, scope.user_id))
        details = {"tool": row.tool, "decision": decision["type"], "turn_id": str(turn.id)}
        audit.record(session, scope.user_id, "decided", "approval", row.id, details)
        if decision.get("remember") and allow_tool(session, row.conversation_id, row.tool):
            words = f"{row.tool} no longer asks for approval in this conversation."
            notices.append(notice(words))
    appended = views.append(session, turn.conversation_id, turn.id, views.Change(drafts=notices))
    return _finish(session, turn, updated, appended.added)


def _refuse_faulty_plan(session: Session, turn: TurnRow, tool: str, arguments: JSON) -> None:
    """Raise InvalidInput if an edited call of a manager cannot run."""
    image = template_of(session.get_one(ConversationRow, turn.conversation_id).image)
    if image.manager is None:
        return  # a tool server's tool of the same name
    agents = [agent.name for agent in specialists_for(image, turn.role)]
    try:
        read_plan(tool, arguments, agents)
    except FaultyPlan as refused:
        reasons = cut_reason(" ".join(refused.faults))
        raise InvalidInput(f"These arguments do not fit {tool}: {reasons}") from None


def _is_due(row: ApprovalRow, now: datetime) -> bool:
    return row.expires_at is not None and row.expires_at < now


def _expire(session: Session, turn_id: UUID) -> _Decided | None:
    turn = session.get(TurnRow, turn_id)
    if turn is None or not _hold(session, turn):
        return None
    now = read_clock(session)
    due = [row for row in pending_of(session, turn_id) if _is_due(row, now)]
    if not due:
        return None
    for row in due:
        details = {"tool": row.tool, "turn_id": str(turn_id)}
        audit.record(session, audit.SOFTWARE, "expired", "approval", row.id, details)
    updated = [answer(session, row, ApprovalStatus.EXPIRED) for row in due]
    return _finish(session, turn, updated, [])


def _hold(session: Session, turn: TurnRow) -> bool:
    """Hold the turn's conversation, whoever owns it; return False when it is gone."""
    held = select(ConversationRow.id).where(ConversationRow.id == turn.conversation_id)
    return session.scalar(held.with_for_update(key_share=True)) is not None


def _finish(
    session: Session,
    turn: TurnRow,
    updated: Sequence[DisplayMessage | None],
    added: list[DisplayMessage],
) -> _Decided:
    goes_on = requeue_if_decided(session, turn.id)
    session.refresh(turn)
    changed = [message for message in updated if message is not None]
    return _Decided(
        turn=turn_of(session, turn),
        context=context_of(session, turn),
        goes_on=goes_on,
        task=find_running_task(session, turn.conversation_id),
        updated=changed,
        added=added,
    )


def _check_repeated(
    scope: Scope, rows: Sequence[ApprovalRow], decisions: Sequence[Decision]
) -> None:
    """Raise unless the same person has already made exactly these decisions."""
    if not rows:
        raise NothingToDecide
    is_same = len(rows) == len(decisions) and all(
        row.decided_by == scope.user_id and row.decision == check_decision(row, decision)
        for row, decision in zip(rows, decisions, strict=True)
        if row.status == ApprovalStatus.DECIDED
    )
    first = next((row for row in rows if row.status != ApprovalStatus.PENDING), rows[0])
    if not is_same or any(row.status != ApprovalStatus.DECIDED for row in rows):
        raise AlreadyDecided(_how_decided(first))


def _how_decided(row: ApprovalRow) -> str:
    when = f"{row.decided_at:%Y-%m-%d %H:%M:%S} UTC" if row.decided_at else ""
    if row.status == ApprovalStatus.EXPIRED:
        return f"Nobody had decided by {when}, so the call was not run and the agent continued."
    if row.status == ApprovalStatus.WITHDRAWN:
        return TAKEN_BACK
    how = (row.decision or {}).get("type")
    return f"{row.decided_by} has already decided, at {when}: {how}. Nothing was changed."


def _tell(services: Services, decided: _Decided) -> None:
    """Notify viewers, and wake a worker when the turn may continue."""
    failpoint("approval.decided")
    context = decided.context
    services.events.publish(
        decided.turn.session_id,
        *(MessageUpdated(context=context, message=row) for row in decided.updated),
        *(MessageAdded(context=context, message=row) for row in decided.added),
        position=decided.added[-1].position if decided.added else 0,
    )
    if decided.task:
        publish_plan_changes(services, decided.task)
    if decided.goes_on:
        services.queue.wake(decided.turn.id)


_DUE = (
    select(ApprovalRow.turn_id)
    .where(ApprovalRow.status == ApprovalStatus.PENDING)
    .where(ApprovalRow.expires_at < func.clock_timestamp())
    .distinct()
    .limit(BATCH)
)
