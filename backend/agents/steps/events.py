"""What a run tells: a closed union of events, and the outbox that takes them."""

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
    """An answer broke off after it had begun; what was shown of it is void, and it comes again."""

    message_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class ModelWaiting:
    """The model is asked again after so many seconds."""

    seconds: float
    reason: str


@dataclass(frozen=True, eq=False)
class ModelAsked:
    """A model was sent a request. `read`: for each of its messages the state's, None if not one.

    A call that has not ended yet is filled in while the run goes on.
    """

    call: ModelCall
    read: tuple[JSON | None, ...]


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """What the tool of a running call says of its progress."""

    call_id: str
    text: str


@dataclass(frozen=True)
class ToolFinished:
    """One call of a batch has ended; the batch's step follows when all have.

    `changed`: the other keys of the state that it has changed, as they are then.
    """

    message: JSON
    artifact: JSON | None
    changed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StepFinished:
    """One model message, or one whole batch of tool results in call order.

    `artifacts` is by tool call id. `state` is the full new agent state, in which unchanged messages
    are the same objects as in the state before. `usage` is that of this step's model call, and of
    the calls that policies have made themselves since the step before. `messages` is empty when
    only middleware has changed the state.
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
    """The run has ended, since calls wait for people, or for tasks; its last step.

    `step` has the results of the other calls of the batch, in call order, if there are any.
    """

    step: StepFinished
    asked: tuple[ApprovalRequest, ...]
    plans: tuple[PlanWait, ...] = ()

    @property
    def waits_for(self) -> WaitsFor:
        """Who is waited for first: people, where both are."""
        return WaitsFor.PEOPLE if self.asked else WaitsFor.TASKS


@dataclass(frozen=True)
class TurnRouted:
    """It is decided which agent has the turn, or goes on with it, from `state`."""

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
    """Takes what happens in a run, in order; on the agents' loop only."""

    def put(self, event: RunEvent) -> None:
        """Take what needs no answer."""

    async def step(self, step: Step) -> None:
        """Take a step and return once it is saved; raise why the run is not to go on."""
