"""The one writer of a running turn: every save names the attempt, every event follows its save."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from backend.agents.steps.events import (
    AnswerReset,
    Interrupted,
    ModelAsked,
    ModelWaiting,
    RunEvent,
    StepFinished,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    TurnRouted,
)
from backend.errors.budgets import CostLimitReached, TokenLimitReached
from backend.logs.outages import DATABASE, while_away
from backend.schemas import events
from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.conversations.turns import RouteReason, Turn, TurnStatus
from backend.schemas.events import SessionEvent
from backend.telemetry.figures import WORK
from backend.turns.plan.publish import publish_plan_changes
from backend.turns.process.services import Services
from backend.turns.run.attempt import hold_turn, note_wait
from backend.turns.run.claim import Claim
from backend.turns.run.close import Closed, InFlight, Outcome, close_turn
from backend.turns.run.lease import TurnStopped
from backend.turns.run.model_calls import ModelCallLog
from backend.turns.run.publish import publish_closed
from backend.turns.run.record.partials import Kind, Partials
from backend.turns.run.record.saving import SavedStep, StepBase, save_route, save_step
from backend.turns.run.record.tool_calls import OpenCalls
from backend.usage.budgets import has_domain_budget, has_session_budget
from backend.usage.days import Payers
from backend.usage.ledger import Used, used_in_session
from backend.usage.spent import Spent
from colloquy_kit.messages.display import shown_id
from colloquy_kit.messages.kinds import ContentType
from colloquy_kit.messages.state import is_answered
from db.failpoints import failpoint

log = logging.getLogger(__name__)
T = TypeVar("T")


_SAID: Mapping[Kind, tuple[type[events.ThinkingDelta | events.TextDelta], ContentType]] = {
    ThinkingDelta: (events.ThinkingDelta, ContentType.THINKING),
    TextDelta: (events.TextDelta, ContentType.TEXT),
}


class TurnWaits(Exception):
    """The turn now waits for people or tasks; no worker holds it until it may continue."""


class Recorder:
    """Saves and publishes what an agent does, for the attempt of one claim."""

    def __init__(self, services: Services, claim: Claim) -> None:
        self._services = services
        self._claim = claim
        self._context = claim.context
        self._stored = claim.stored
        self._spent = claim.spent
        self._position = claim.position
        self._partials = Partials()
        self._finished: list[ToolFinished] = []
        self._asked = ModelCallLog()
        self._calls = OpenCalls()
        self._calls.opened(list(claim.calls))
        self._claimed_at = time.monotonic()
        self._has_spoken = claim.attempt > 1  # in an earlier attempt, as far as is known here

    def started(self) -> None:
        """Publish that the turn runs, and show its message if that had to wait."""
        claim, context = self._claim, self._context
        reset = []
        if claim.attempt > 1 and not claim.has_waited:
            reason = "worker lost" if claim.lost_worker else "handed over"
            reset = [events.Reset(context=context, message_id=None, reason=reason)]
        route, routing = claim.turn.route, []
        if route and route.reason is RouteReason.PENDING:
            routing = [events.Progress(context=context, state="routing")]
        self._publish(
            *reset,
            events.TurnStarted(context=context, turn=claim.turn),
            *routing,
            *(events.MessageUpdated(context=context, message=row) for row in claim.updated),
            *(events.MessageAdded(context=context, message=row) for row in claim.added),
        )

    def record(self, event: RunEvent) -> None:
        """Handle one event of the agent, and save it if it is a step.

        Raise why the agent may not continue: TurnStopped, TurnWaits, LeaseLost, a limit.
        """
        _RECORD[type(event)](self, event)

    def said(self, delta: TextDelta | ThinkingDelta) -> None:
        """Publish a delta of an answer; keep it in case the turn stops before the answer ends."""
        self._partials.add(delta)
        failpoint("model.streaming")
        event, content_type = _SAID[type(delta)]
        shown = shown_id(delta.message_id, content_type)
        self._publish(event(context=self._context, message_id=shown, text=delta.text))
        if not self._has_spoken:
            self._has_spoken = True
            self._count_first_token()

    def reset(self, reset: AnswerReset) -> None:
        """Withdraw what was published of an answer that broke off and will be asked for again."""
        context, reason, message_id = self._context, reset.reason, reset.message_id
        said = [
            of_kind for kind, (_, of_kind) in _SAID.items() if self._partials.has(message_id, kind)
        ]
        void = [shown_id(message_id, of_kind) for of_kind in said]
        self._publish(*(events.Reset(context=context, message_id=i, reason=reason) for i in void))
        self._partials.forget([message_id])

    def waiting(self, waiting: ModelWaiting) -> None:
        """Publish that the model's provider makes the turn wait; store it for later viewers."""
        seconds, reason = waiting.seconds, waiting.reason
        progress = events.Progress(
            context=self._context, state="waiting_for_model", seconds=seconds, reason=reason
        )
        self._publish(progress)
        try:
            with self._services.database.transaction() as session:
                note_wait(session, self._claim, waiting.seconds, waiting.reason)
        except SQLAlchemyError as error:
            # It is already published, and the next step will show whether the database is back.
            reason = str(error).splitlines()[0]
            log.warning(
                "A wait for the model was not stored: %s", reason, extra=while_away(DATABASE)
            )

    def tool_said(self, said: ToolProgress) -> None:
        """Publish a running tool's progress, which is not stored."""
        call_id, text = said.call_id, said.text
        self._publish(
            events.Progress(context=self._context, state="running_tool", call_id=call_id, text=text)
        )

    def asked(self, asked: ModelAsked) -> None:
        """Keep what a model was sent until it is recorded with the step that it makes."""
        self._asked.add(asked)

    def check_usage(self) -> None:
        """Raise the error of the limit or budget that is used up while work remains."""
        if is_answered(self._stored.state):
            return
        budgets, used = self._claim.budgets, Used.of(self._spent.total)
        limits = budgets.limits
        if limits.tokens and used.tokens >= limits.tokens:
            raise TokenLimitReached
        if limits.cost and used.cost >= limits.cost:
            raise CostLimitReached
        if has_session_budget(limits):
            budgets.check_session(self._retry_transaction(self._used_in_session))
        if has_domain_budget(limits):
            self._retry_transaction(budgets.check_domain)
        self._services.limits.day.check_step(self._services.database, self._payers)

    def tool_finished(self, finished: ToolFinished) -> None:
        """Keep one call's result, and how long it took, until its batch is saved."""
        self._finished.append(finished)
        self._calls.ended(finished.message.get("tool_call_id"))

    def interrupted(self, interrupted: Interrupted) -> NoReturn:
        """Save the step and make the turn wait for people or tasks. Raise what `record` does.

        Only a wait for people is published: tasks publish their own events.
        """
        self.step_finished(interrupted.step, interrupted)
        changed = {"status": TurnStatus.WAITING, "usage": self._spent.total}
        turn = self._claim.turn.model_copy(update=changed)
        if interrupted.asked:
            self._publish(events.Interrupt(context=self._context, turn=turn))
        raise TurnWaits

    def routed(self, routed: TurnRouted) -> None:
        """Save which agent has the turn from now on, and what choosing it cost."""
        asked = self._asked.choose_ended()
        spent = self._spent.plus(asked)
        usage = Spent().plus(asked).total if asked else None
        route = routed.route.model_copy(update={"usage": usage}).model_dump(mode="json")

        def write(session: Session) -> Turn:
            return save_route(session, self._begun(), routed, route, spent)

        turn = self._retry_transaction(write)
        self._asked.saved()
        self._stored = self._stored.followed_by(routed.state, self._stored.version + 1)
        self._services.limits.day.count(self._payers, self._spent, spent)
        self._spent = spent
        self._context = self._context.model_copy(update={"agent_id": turn.agent})
        self._claim = replace(self._claim, turn=turn, context=self._context)
        self._publish(events.TurnStarted(context=self._context, turn=turn))

    def step_finished(self, step: StepFinished, waits: Interrupted | None = None) -> None:
        """Save a step: display rows, state, usage, in one transaction; then publish.

        With `waits`, the turn waits after this step. Raise what `record` does.
        """
        if self._claim.turn.route and is_answered(step.state):
            self._publish(events.Progress(context=self._context, state="completing"))
        is_model_step = bool(step.usage.model_calls)
        failpoint("step.before_save" if is_model_step else "results.before_save")
        spent = self._spent.plus(self._asked.choose_ended())

        def write(session: Session) -> SavedStep:
            return save_step(session, self._begun(), step, waits, spent, self._calls.moves_of(step))

        saved = self._retry_transaction(write)
        self._asked.saved()
        self._stored = self._stored.followed_by(step.state, self._stored.version + 1)
        self._services.limits.day.count(self._payers, self._spent, spent)
        self._spent = spent
        self._finished.clear()
        self._partials.forget(message.get("id", "") for message in step.messages)
        self._calls.opened(saved.written.added)
        self._show(saved.written.added, saved.written.updated)
        failpoint("step.after_save" if is_model_step else "results.after_save")
        if saved.stop:
            raise TurnStopped
        if saved.task:
            publish_plan_changes(self._services, saved.task)
        if saved.goes_on:
            self._services.queue.wake(self._claim.turn_id)
        if not waits:
            self.check_usage()

    def forget_in_flight(self) -> None:
        """Drop what was published and recorded since the last step."""
        self._asked = ModelCallLog()
        self._finished.clear()
        self._partials.clear()

    def finish(self, outcome: Outcome) -> Closed:
        """End the turn and publish it. Raise LeaseLost when this attempt may not."""
        in_flight = InFlight(self._partials.list_all(), tuple(self._finished), self._asked)

        def write(session: Session) -> Closed:
            closed = close_turn(
                session, hold_turn(session, self._claim), outcome, in_flight, self._stored
            )
            failpoint("close.before_commit")
            return closed

        closed = self._retry_transaction(write)
        failpoint("close.after_commit")
        publish_closed(self._services, closed)
        return closed

    def _count_first_token(self) -> None:
        """Count how long people have waited: by the database's clock until the claim."""
        turn = self._claim.turn
        if turn.started_at:
            queued = (turn.started_at - turn.created_at).total_seconds()
            WORK.first_token(queued + time.monotonic() - self._claimed_at)

    @property
    def _payers(self) -> Payers:
        return Payers(self._claim.scope.user_id, self._claim.budgets.team)

    def _used_in_session(self, session: Session) -> Used:
        """Return what the session has used by now; other tasks of it may be running."""
        return used_in_session(session, self._claim.conversation_id)

    def _begun(self) -> StepBase:
        return StepBase(self._claim, self._stored, self._asked)

    def _retry_transaction(self, write: Callable[[Session], T]) -> T:
        """Commit a write, retrying while the database is down for less than a lease."""
        services = self._services
        return services.database.retry_transaction(write, services.settings.lease_seconds)

    def _show(self, added: list[DisplayMessage], updated: list[DisplayMessage]) -> None:
        if added:
            self._position = added[-1].position
        context = self._context
        todos = [row.content["todos"] for row in added if row.content_type is ContentType.TODOS]
        self._publish(
            *(events.MessageUpdated(context=context, message=row) for row in updated),
            *(events.MessageAdded(context=context, message=row) for row in added),
            *(events.TodosUpdated(context=context, todos=one) for one in todos),
        )

    def _publish(self, *what: SessionEvent) -> None:
        conversation_id, position = self._claim.conversation_id, self._position
        self._services.events.publish(conversation_id, *what, position=position)


_RECORD: Mapping[type, Callable[[Recorder, Any], None]] = {
    TextDelta: Recorder.said,
    ThinkingDelta: Recorder.said,
    ToolFinished: Recorder.tool_finished,
    ToolProgress: Recorder.tool_said,
    StepFinished: Recorder.step_finished,
    Interrupted: Recorder.interrupted,
    AnswerReset: Recorder.reset,
    ModelWaiting: Recorder.waiting,
    ModelAsked: Recorder.asked,
    TurnRouted: Recorder.routed,
}
