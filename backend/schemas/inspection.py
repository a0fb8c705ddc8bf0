"""The wire contract of the inspector: what a model reads next, and what it was sent."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.wire import Wire
from backend.types import JSON


class ContextStatus(StrEnum):
    """What became of a display message in what the model reads."""

    KEPT = "kept"
    EDITED = "edited"
    SUMMARISED = "summarised"
    DROPPED = "dropped"
    PEOPLE_ONLY = "people_only"
    UNKNOWN = "unknown"


class Origin(StrEnum):
    """Where a message that the model reads comes from."""

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
    """When a message left what the model reads: before this step of this turn of the session."""

    reason: Reason
    turn: int
    step: int


class ReadMessage(Wire):
    """One message as the model reads it. `place`: counted from 0, in the order in which it reads.

    `sent`: how the last request said it, where that was otherwise.
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
        description="What goes back with it to the provider that it came from, and to no other: "
        "`message`, fields of the message, and `calls`, fields of its calls by their ids.",
    )


class InspectedRow(Wire):
    """A display message, and what became of it. `tokens` is an approximation."""

    message: DisplayMessage
    context_status: ContextStatus
    tokens: int
    left: Left | None = None


class Pair(Wire):
    """What people see of one message, beside what the model reads of it.

    `reads` is null where the model reads nothing of it; `shown` is empty where nobody has seen it.
    """

    shown: list[InspectedRow]
    reads: ReadMessage | None


class Totals(Wire):
    """About how many tokens the next request has; `tools` is null until a model was asked.

    `budget`: at how many tokens of messages the domain's policy summarises; null without one.
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
    added: list[str] = Field(description="What policies put between the messages, last time.")
    notes: list[str] = Field(description="What cannot be told of this session, in sentences.")
    next_before: int | None


class ModelCallSummary(Wire):
    """One request to a model that was made in this session.

    `version` is that of the state which its step has made, `number` counts its calls from 1.
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
    """One message of a request as it was sent. `place`: that in the state; null: not from there."""

    message: JSON
    place: int | None
    tokens: int


class ModelCallDetails(ModelCallSummary):
    """Exactly what a model was sent; `is_proven`: its digest is that of what was sent."""

    messages: list[SentMessage]
    tools: list[JSON]
    settings: JSON = Field(description="The rest of the request: model, temperature, and so on.")
    is_proven: bool
