"""Closing a turn: both views are completed and the status set in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row, bindparam, func, null, update
from sqlalchemy.orm import Session

from backend.agents.answers import without_interrupt
from backend.agents.steps.events import ToolFinished
from backend.approvals.store import withdraw
from backend.conversations import display, views
from backend.conversations.display import CallMove
from backend.conversations.messages import open_calls
from backend.conversations.state.delta import diff_states
from backend.conversations.state.store import (
    StoredState,
    load_state,
)
from backend.errors.conversations import CorruptState, corrupt_if_it_fails
from backend.schemas.conversations.sessions import DisplayMessage, EventContext
from backend.schemas.conversations.turns import ErrorSummary, Turn, TurnStatus
from backend.tools.journal import CallKey
from backend.turns.plan.graph_rows import PlanChanges
from backend.turns.plan.moving import end_task, stop_plans
from backend.turns.plan.result import plans_of_calls, result_at_end
from backend.turns.queries import change_turn, context_in, conversation_of, next_turn_id, wire_turn
from backend.turns.run.journal import forget_journal, load_journal
from backend.turns.run.model_calls import ModelCallLog
from backend.turns.run.results import keep_results, route_at_end
from backend.types import JSON
from backend.usage.ledger import SessionDomain, record_usage
from backend.usage.spent import Spent
from colloquy_kit.messages.display import (
    Draft,
    call_status,
    failure,
    notice,
    readable_todos,
    todo_list,
)
from colloquy_kit.messages.kinds import MessageStatus
from colloquy_kit.messages.repair import repair, substitute_result
from colloquy_kit.messages.state import add_partial, calling_message, check_state, pending_calls
from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow

LIST_SECONDS = 60
REBUILD = "rebuild"
CUT_OFF = "The turn ended before this call had a result; its outcome is unknown."
NO_EFFECT = "The turn ended before this call had a result. It has changed nothing."
NOT_RUN = "The turn ended, so this call was not run. It had waited for a person's decision."


@dataclass(frozen=True)
class Partial:
    """The part of a message that a model had sent when it was cut off."""

    message_id: str
    text: str
    thinking: str


@dataclass(frozen=True)
class Outcome:
    """How a turn ends, and what people see of it."""

    status: TurnStatus
    drafts: tuple[Draft, ...] = ()
    error: ErrorSummary | None = None

    @classmethod
    def succeeded(cls) -> "Outcome":
        """Return the outcome of a turn whose agent has answered."""
        return cls(TurnStatus.SUCCEEDED)

    @classmethod
    def stopped(cls) -> "Outcome":
        """Return the outcome of a turn that a person stopped."""
        return cls(TurnStatus.STOPPED, (notice("Stopped.", MessageStatus.STOPPED),))

    @classmethod
    def failed(cls, title: str, detail: str, offer: str | None = None) -> "Outcome":
        """Return the outcome of a failed turn, with the reason and what pages offer then."""
        error = ErrorSummary(title=title, detail=detail)
        metadata = {"offer": offer} if offer else None
        return cls(TurnStatus.FAILED, (failure(title, detail, metadata),), error)


@dataclass(frozen=True)
class Closed:
    """What closing a turn changed, for viewers, and which turn is next.

    `plan_changes`: the plan that its task belongs to, or the plans that it started.
    """

    turn: Turn
    context: EventContext
    added: Sequence[DisplayMessage] = ()
    updated: Sequence[DisplayMessage] = ()
    next_turn: UUID | None = None
    plan_changes: Sequence[PlanChanges] = ()


@dataclass(frozen=True)
class InFlight:
    """The parts of an unfinished step when its turn ended."""

    partials: Sequence[Partial] = ()
    tools: Sequence[ToolFinished] = field(default=())
    asked: ModelCallLog = field(default_factory=ModelCallLog)


def load_checked(session: Session, conversation_id: UUID) -> StoredState:
    """Return an existing conversation's newest state. Raise CorruptState."""
    stored = load_state(session, conversation_id)
    with corrupt_if_it_fails():
        check_state(stored.state)
    return stored


def close_turn(
    session: Session,
    turn: TurnRow,
    outcome: Outcome,
    in_flight: InFlight = InFlight(),
    stored: StoredState | None = None,
) -> Closed:
    """End a turn whose conversation the caller holds; return what is to be published.

    Partial text stays and is marked; calls without a result get one that says so, in both views.
    An unreadable state is left as it is.
    A message still waiting behind another turn is withdrawn with its turn.
    """
    written = views.Written()
    if turn.message_position is not None:
        try:
            stored = stored or load_checked(session, turn.conversation_id)
            written = _make_whole(session, turn, outcome, in_flight, stored)
        except CorruptState as error:
            written = _tell_corrupt(session, turn, outcome, error)
    if turn.status == TurnStatus.WAITING:
        written.updated.extend(withdraw(session, turn.id))
    written.added.extend(keep_results(session, turn, outcome.status, stored))
    spent = Spent.read(turn.usage).plus(in_flight.asked.calls)
    change_turn(
        session,
        turn,
        status=outcome.status,
        usage=spent.dump(),
        error=outcome.error.model_dump() if outcome.error else null(),
        finished_at=func.clock_timestamp(),
        lease_until=None,
        route=route_at_end(turn, stored),
    )
    forget_journal(session, turn.id)
    _bring_to_top(session, turn.conversation_id)
    conversation = conversation_of(session, turn)
    plan_changes = _move_plans(session, turn, conversation)
    following = next_turn_id(session, turn.conversation_id)
    domain = SessionDomain(conversation.domain_id, conversation.domain_name)
    record_usage(session, turn.owner_id, domain, spent, team=conversation.team)
    context = context_in(conversation, turn)
    return Closed(wire_turn(turn), context, written.added, written.updated, following, plan_changes)


def _move_plans(
    session: Session, turn: TurnRow, conversation: Row[Any, Any, Any, Any, Any, Any]
) -> list[PlanChanges]:
    """Move the plan whose task this turn ran, or end the plans that this turn started."""
    if conversation.has_plans:
        return stop_plans(session, turn)
    if conversation.parent_id is None:
        return []
    plan_changes = end_task(session, turn)
    return [plan_changes] if plan_changes else []


def _bring_to_top(session: Session, conversation_id: UUID) -> None:
    """Move the conversation to the top of the list again, if the turn took long.

    Its message already did so; a minute's difference is not worth the index entries.
    """
    session.execute(_TOUCH, {"held": conversation_id})


def _make_whole(
    session: Session, turn: TurnRow, outcome: Outcome, in_flight: InFlight, stored: StoredState
) -> views.Written:
    state = without_interrupt(stored.state)
    state, drafts = with_partials(state, in_flight, turn.agent, in_team=bool(turn.route))
    finished = _finished_calls(session, turn, state, in_flight)
    harmless = _calls_without_effect(session, turn, state, finished)
    messages = [*state["messages"], *(tool.message for tool in finished), *harmless]
    changed = {key: value for tool in finished for key, value in tool.changed.items()}
    note = NOT_RUN if turn.status == TurnStatus.WAITING else CUT_OFF
    state, unanswered = repair({**state, **changed, "messages": messages}, note)
    for tool in finished:
        drafts += display.result_drafts(tool.message, tool.artifact, turn.agent)
    for message in (*harmless, *unanswered):
        drafts.append(display.tool_draft(message, None, turn.agent))
    if todos := readable_todos(changed.get("todos")):
        drafts.append(todo_list(todos, turn.agent))
    in_flight.asked.choose_all()
    requests = in_flight.asked.record(session, turn.conversation_id, state["messages"])
    change = views.Change(
        drafts=[*drafts, *outcome.drafts],
        moves=_last_moves(session, turn, finished),
        delta=diff_states(stored.state, state) or None,
        version=stored.version,
        requests=requests,
    )
    written = views.append(session, turn.conversation_id, turn.id, change)
    version = written.version or stored.version
    if stored.followed_by(state, version).should_compact:
        views.compact(session, turn.conversation_id, version)
    return written


def _tell_corrupt(
    session: Session, turn: TurnRow, outcome: Outcome, error: CorruptState
) -> views.Written:
    """Close what is open on the screen, and offer to rebuild the agent state."""
    offer = failure(error.title, error.detail, {"offer": REBUILD})
    drafts = [offer] if outcome.status is TurnStatus.FAILED else [*outcome.drafts, offer]
    change = views.Change(drafts=drafts, moves=_last_moves(session, turn, ()))
    return views.append(session, turn.conversation_id, turn.id, change)


def _finished_calls(
    session: Session, turn: TurnRow, state: JSON, in_flight: InFlight
) -> list[ToolFinished]:
    """Return the calls that already have a result, from this attempt and earlier ones."""
    finished = list(in_flight.tools)
    asking = calling_message(state)
    if asking is None:
        return finished
    known = {tool.message.get("tool_call_id") for tool in finished}
    pending = {call["id"] for call in pending_calls(state)} - known
    journal = load_journal(session, turn.id, asking["id"])
    plans = plans_of_calls(session, turn.id, asking["id"])
    for number, call in enumerate(asking["tool_calls"]):
        recorded = journal.get(CallKey(asking["id"], number))
        if recorded and recorded.message and call["id"] in pending:
            finished.append(ToolFinished(recorded.message, recorded.artifact))
        elif number in plans and call["id"] in pending:
            finished.append(ToolFinished(result_at_end(session, plans[number], call), None))
    return finished


def _calls_without_effect(
    session: Session, turn: TurnRow, state: JSON, finished: Sequence[ToolFinished]
) -> list[JSON]:
    """Return a result for each call that never began or only reads: the journal has neither."""
    asking = calling_message(state)
    if asking is None or turn.status == TurnStatus.WAITING:
        return []
    known = {tool.message.get("tool_call_id") for tool in finished}
    pending = {call["id"] for call in pending_calls(state)} - known
    begun = load_journal(session, turn.id, asking["id"])
    return [
        substitute_result(call, NO_EFFECT)
        for number, call in enumerate(asking["tool_calls"])
        if call["id"] in pending and CallKey(asking["id"], number) not in begun
    ]


def with_partials(
    state: JSON, in_flight: InFlight, agent: str, *, in_team: bool = False
) -> tuple[JSON, list[Draft]]:
    """Return the state with all partial messages, and the rows that show them."""
    name = agent if in_team else None
    drafts: list[Draft] = []
    for partial in in_flight.partials:
        state, message = add_partial(
            state, partial.text, partial.thinking, partial.message_id, name, in_flight.asked.model
        )
        if message is not None:
            drafts += display.assistant_drafts(message, agent, MessageStatus.STOPPED)
    return state, drafts


def _last_moves(
    session: Session, turn: TurnRow, finished: Sequence[ToolFinished]
) -> list[CallMove]:
    """Return how the turn's open tool calls end: finished or stopped."""
    outcomes = [(t.message.get("tool_call_id"), call_status(t.message)) for t in finished]
    moves = []
    since = turn.message_position or 0
    for row in open_calls(session, turn.conversation_id, turn.id, since):
        match = next((o for o in outcomes if o[0] == row.content["call_id"]), None)
        if match:
            outcomes.remove(match)
        status = match[1] if match else MessageStatus.STOPPED
        moves.append(CallMove(row.position, status))
    return moves


_NOW = func.clock_timestamp()
_TOUCH = (
    update(ConversationRow)
    .where(ConversationRow.id == bindparam("held"))
    .where(ConversationRow.updated_at < _NOW - timedelta(seconds=LIST_SECONDS))
    .values(updated_at=_NOW)
    .execution_options(synchronize_session=False)
)
