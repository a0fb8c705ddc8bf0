"""The events of a run, as a closed union, and the outbox that takes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from backend.llm.events import ModelCall
from backend.schemas.approvals import DecisionType
from backend.schemas.conversations.turns import Route, Usage, WaitsFor
from backend.tools.journal import CallKey
from backend.tools.plans import PlanWait
from backend.types import JSON


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, as it arrives."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of the model's thinking, as it arrives."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerReset:
    """An answer broke off after it began; what was shown of it is void until it comes again."""

    message_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class ModelWaiting:
    """The model is asked again after so many seconds."""

    seconds: float
    reason: str


@dataclass(frozen=True, eq=False)
class ModelAsked:
    """A model was sent a request. `read`: each message as the state has it, None if it does not.

    A call that has not ended yet is completed as the run continues.
    """

    call: ModelCall
    read: tuple[JSON | None, ...]


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """The progress that a running call's tool reports."""

    call_id: str
    text: str


@dataclass(frozen=True)
class ToolFinished:
    """One call of a batch has ended; the batch's step follows once all have.

    `changed`: the other keys of the state that it changed, with their new values.
    """

    message: JSON
    artifact: JSON | None
    changed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StepFinished:
    """One model message, or one whole batch of tool results in call order.

    `artifacts` is by tool call id. `state` is the full new agent state, in which unchanged messages
    are the same objects as in the previous state. `usage` is the usage of this step's model call,
    and of calls that policies made themselves since the previous step. `messages` is empty when
    only middleware changed the state.
    `notices` are for people only, before the messages. `asking`: ids of the calls of this model
    message that wait for a person before they run.
    """

    messages: tuple[JSON, ...]
    artifacts: Mapping[str, JSON]
    state: JSON
    usage: Usage
    notices: tuple[str, ...] = ()
    asking: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ApprovalRequest:
    """A call that waits for a person, as it is shown to them."""

    key: CallKey
    call_id: str
    name: str
    arguments: JSON
    arguments_hash: str
    allowed_decisions: tuple[DecisionType, ...]
    description: str
    args_schema: JSON
    expires_seconds: int | None


@dataclass(frozen=True)
class Interrupted:
    """The run has ended because calls wait for people or tasks; its last step.

    `step` has the results of the batch's other calls, in call order, if any.
    """

    step: StepFinished
    asked: tuple[ApprovalRequest, ...]
    plans: tuple[PlanWait, ...] = ()

    @property
    def waits_for(self) -> WaitsFor:
        """Return what the turn waits for first: people, if it waits for both."""
        return WaitsFor.PEOPLE if self.asked else WaitsFor.TASKS


@dataclass(frozen=True)
class TurnRouted:
    """The agent for the turn, or for the rest of it, was chosen; it starts from `state`."""

    agent: str
    route: Route
    state: JSON


Step = StepFinished | Interrupted | TurnRouted
RunEvent = (
    TextDelta
    | ThinkingDelta
    | AnswerReset
    | ModelWaiting
    | ModelAsked
    | ToolProgress
    | ToolFinished
    | Step
)


class Outbox(Protocol):
    """Takes a run's events in order, on the agents' loop only."""

    def put(self, event: RunEvent) -> None:
        """Take an event that needs no answer."""

    async def step(self, step: Step) -> None:
        """Take a step and return once it is saved. Raise why the run must not continue."""
