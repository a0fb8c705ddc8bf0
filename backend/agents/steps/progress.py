"""Following a run: applies LangGraph's updates to the stored state and divides them into steps."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from backend.agents.answers import INTERRUPT
from backend.agents.policy_context import Notice, Report
from backend.agents.steps.events import ApprovalRequest, Interrupted, StepFinished, ToolFinished
from backend.errors.conversations import corrupt_if_it_fails
from backend.llm.prices import COST
from backend.schemas.conversations.turns import Usage
from backend.tools.plans import PlanWait
from backend.types import JSON
from backend.usage.spent import answer_usage, sum_usages
from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.state import is_answered, pending_calls
from colloquy_kit.runtime.growing import GrowingState, as_messages

NOTICES = "notices"
MAX_NOTICE_CHARS = 2_000


class Progress(GrowingState):
    """The agent state as it grows, divided into steps. `steps`: how many the turn has made."""

    def __init__(self, state: JSON, steps: int = 0) -> None:
        with corrupt_if_it_fails():
            super().__init__(state)
        self.steps = steps
        self._answer: AIMessage | None = None
        self._refused: list[ToolMessage] = []
        self._results: list[ToolMessage] = []
        self._late: list[BaseMessage] = []
        self._notices: tuple[str, ...] = ()
        self._spent: Usage | None = None

    @property
    def is_finished(self) -> bool:
        """Return whether nothing is left to do: the last message is an answer without calls."""
        return is_answered(self.state)

    def tell(self, notices: Sequence[str], warnings: Sequence[str]) -> None:
        """Show warnings, and notices not shown before, with the next step.

        Notices already shown are kept in the state's metadata, which no model reads.
        """
        for warning in warnings:
            self.take_report(Notice(warning))
        metadata = self.state.get("metadata") or {}
        earlier = metadata.get(NOTICES) or []
        storable = (clean(notice)[:MAX_NOTICE_CHARS] for notice in notices)  # they quote others
        new = [notice for notice in storable if notice not in earlier]
        if new:
            self._notices = (*self._notices, *new)
            self.state = {**self.state, "metadata": {**metadata, NOTICES: [*earlier, *new]}}

    def renewed(self) -> "Progress":
        """Return the progress for an agent that is built again, with what is not saved yet."""
        progress = Progress(self.state, self.steps)
        progress._notices = self._notices
        progress._spent, progress.is_changed = self._spent, self.is_changed
        return progress

    def take_report(self, report: Report) -> None:
        """Take a policy's report, to be saved with the next step."""
        if isinstance(report, Notice):
            self._notices = (*self._notices, clean(report.text)[:MAX_NOTICE_CHARS])
        else:
            self._spent = sum_usages([self._spent or Usage(), usage_of(report.answer)])

    def take_update(self, values: Mapping[str, Any]) -> None:
        """Take what a node of the model or of middleware changed.

        Results in it belong to calls that a policy did not let run.
        """
        messages = as_messages(values.get("messages"))
        new = self.unknown(messages)
        self.take_keys(values)
        self.take_messages(messages)
        self._answer = next((m for m in new if isinstance(m, AIMessage)), self._answer)
        if self._answer is not None:
            self._refused += [m for m in new if isinstance(m, ToolMessage)]

    def take_results(self, values: Mapping[str, Any]) -> list[ToolFinished]:
        """Take the results of one call of a batch; they enter the state with the whole batch."""
        changed = self.take_keys(values)
        finished = []
        for message in as_messages(values.get("messages")):
            if isinstance(message, ToolMessage):
                self._results.append(message)
                finished.append(ToolFinished(self.dump(message), _artifact(message), changed))
            else:
                self._late.append(message)
        return finished

    def find_stored(self, messages: Sequence[BaseMessage | None]) -> tuple[JSON | None, ...]:
        """Return each message as the state holds it; None for one that is not in the state.

        A policy may pass on copies; a changed copy is not in the state.
        """
        stored = [self._dumped.get(id(message)) for message in messages]
        if None in stored:
            known = {message.id: message for message in self.messages}
            for place, message in enumerate(messages):
                own = known.get(message.id) if message is not None else None
                if own is not None and own == message:
                    stored[place] = self._dumped[id(own)]
        return tuple(stored)

    def finish_model_step(self) -> StepFinished | None:
        """Return the step of the new model message, if there is one."""
        answer, self._answer = self._answer, None
        refused, self._refused = self._refused, []
        if answer is None:
            return None
        kept = next((m for m in self.messages if m.id == answer.id), answer)
        return self._step([self.dump(m) for m in (kept, *refused)], {}, usage_of(answer))

    def finish_own_call(self) -> StepFinished | None:
        """Return a step for a policy's own model calls, saved immediately; None if none."""
        if self._spent is None or self._answer is not None:
            return None
        return self._step([], {}, Usage())

    def finish_batch(self) -> StepFinished | None:
        """Return the batch of results in call order, once every call has a result."""
        order = {call["id"]: place for place, call in enumerate(pending_calls(self.state))}
        if not order or len(self._results) < len(order):
            return None
        late, self._late = self._late, []
        return self._finish_results(order, late)

    def interrupt(self, questions: Sequence[ApprovalRequest | PlanWait]) -> Interrupted:
        """Return the finished part of a batch whose other calls wait for people or tasks.

        The state says what it waits for. Nothing may come between a call and its result, so
        messages that tools added besides their results are left out.
        """
        asked = [one for one in questions if isinstance(one, ApprovalRequest)]
        plans = [one for one in questions if isinstance(one, PlanWait)]
        in_order = tuple(sorted(asked, key=lambda question: question.key.number))
        waits = tuple(sorted(plans, key=lambda wait: wait.place.number))
        interrupt: JSON = {"calls": [_question(one) for one in in_order]}
        if waits:
            interrupt["plans"] = [{"call_id": one.place.call_id, "name": one.name} for one in waits]
        self.state = {**self.state, INTERRUPT: interrupt}
        order = {call["id"]: place for place, call in enumerate(pending_calls(self.state))}
        return Interrupted(self._finish_results(order, []), in_order, waits)

    def _finish_results(self, order: Mapping[str, int], late: list[BaseMessage]) -> StepFinished:
        last = len(order)
        results = sorted(self._results, key=lambda r: order.get(r.tool_call_id, last))
        self.take_messages([*results, *late])
        self._results = []
        artifacts = {r.tool_call_id: a for r in results if (a := _artifact(r)) is not None}
        return self._step([self.dump(result) for result in results], artifacts, Usage())

    def finish_rest(self) -> StepFinished | None:
        """Return what middleware changed after the last step, if anything."""
        return self._step([], {}, Usage()) if self.is_changed else None

    def _step(self, messages: list[JSON], artifacts: dict[str, JSON], usage: Usage) -> StepFinished:
        self.steps += bool(messages)
        self.is_changed = False
        notices, self._notices = self._notices, ()
        spent, self._spent = self._spent, None
        usage = sum_usages([usage, spent]) if spent else usage
        return StepFinished(tuple(messages), artifacts, self.state, usage, notices)


def _question(asked: ApprovalRequest) -> JSON:
    return {
        "call_id": asked.call_id,
        "name": asked.name,
        "arguments": asked.arguments,
        "arguments_hash": asked.arguments_hash,
    }


def _artifact(message: ToolMessage) -> JSON | None:
    return message.artifact if isinstance(message.artifact, dict) else None


def usage_of(answer: AIMessage) -> Usage:
    """Return the usage of one model answer."""
    return answer_usage(answer.usage_metadata, answer.response_metadata.get(COST, 0.0))
