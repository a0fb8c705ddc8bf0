"""The wire contract of the inspector: what a model reads next, and what it was sent before."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.wire import Wire
from backend.types import JSON


class ContextStatus(StrEnum):
    """What became of a display message in the agent state."""

    KEPT = "kept"
    EDITED = "edited"
    SUMMARISED = "summarised"
    DROPPED = "dropped"
    PEOPLE_ONLY = "people_only"
    UNKNOWN = "unknown"


class Origin(StrEnum):
    """The origin of a message that the model reads."""

    SAID = "said"
    SUMMARY = "summary"
    REPAIRED = "repaired"
    POLICY = "policy"


class Reason(StrEnum):
    """Why the model no longer reads a message."""

    SUMMARY = "summary"
    TRIMMED = "trimmed"
    TAKEN_BACK = "taken_back"


class Left(Wire):
    """When the model stopped reading a message: before this step of this turn of the session."""

    reason: Reason
    turn: int
    step: int


class ReadMessage(Wire):
    """One message as the model reads it. `place`: its index in reading order, from 0.

    `sent`: its text in the last request, if that differed.
    """

    id: str
    place: int
    role: str
    text: str
    calls: list[JSON] = Field(default=[], description="Tool calls: `{id, name, arguments}`.")
    tokens: int
    origin: Origin
    sent: str | None = None
    returned: JSON = Field(
        default={},
        description="Fields sent back with it, only to the provider that they came from: "
        "`message`, fields of the message, and `calls`, fields of its calls by call id.",
    )


class InspectedRow(Wire):
    """A display message, and what became of it. `tokens` is an approximation."""

    message: DisplayMessage
    context_status: ContextStatus
    tokens: int
    left: Left | None = None


class Pair(Wire):
    """What people see of one message, beside what the model reads of it.

    `reads` is null if the model reads nothing of it; `shown` is empty if people never saw it.
    """

    shown: list[InspectedRow]
    reads: ReadMessage | None


class Totals(Wire):
    """The approximate tokens of the next request; `tools` is null until a model has been called.

    `budget`: the tokens of messages at which the domain's policy summarises; null if it has none.
    """

    system: int
    tools: int | None
    messages: int
    message_count: int
    budget: int | None
    keep: int | None


class Inspection(Wire):
    """One page of a session's history beside what the model reads, in ascending position."""

    items: list[Pair]
    totals: Totals
    system: str
    added: list[str] = Field(description="Text that policies put between messages, last time.")
    notes: list[str] = Field(description="What is unknown about this session, in sentences.")
    next_before: int | None


class ModelCallSummary(Wire):
    """One request to a model made in this session.

    `version` is that of the state that its step made; `number` counts its calls from 1.
    """

    version: int
    number: int
    turn: int
    turn_id: UUID | None
    step: int
    agent: str
    model: str
    purpose: str
    message_count: int
    input_tokens: int | None
    output_tokens: int | None
    cost: float
    began_at: datetime
    seconds: float | None
    failure: str


class ModelCallPage(Wire):
    """One page of model calls, newest first."""

    items: list[ModelCallSummary]
    notes: list[str]
    next_before: int | None


class SentMessage(Wire):
    """One message of a request as sent. `place`: its place in the state; null: not from there."""

    message: JSON
    place: int | None
    tokens: int


class ModelCallDetails(ModelCallSummary):
    """Exactly what a model was sent; `is_proven`: the digest matches that of what was sent."""

    messages: list[SentMessage]
    tools: list[JSON]
    settings: JSON = Field(description="The rest of the request: model, temperature, and so on.")
    is_proven: bool
