"""The wire contract of turns: the work that messages start, and its state."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Wire


class TurnStatus(StrEnum):
    """The status of a turn: queued -> running <-> waiting -> succeeded, failed or stopped."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


class ErrorSummary(Wire):
    """Why a turn failed, in plain words."""

    title: str
    detail: str


class Usage(Wire):
    """Tokens that a turn used, and their cost by the price of its model."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    model_calls: int = 0
    cost: float = 0.0

    @property
    def is_unreported(self) -> bool:
        """Return whether the model was asked and its endpoint has reported no tokens."""
        return self.model_calls > 0 and self.input_tokens == 0


class ModelWait(Wire):
    """The provider makes a turn wait: its model is called again after so many seconds."""

    seconds: float
    reason: str


class RouteReason(StrEnum):
    """Why an agent has a turn."""

    ASKED = "asked"
    MENTION = "mention"
    CONTINUES = "continues"
    MANAGER = "manager"
    HANDED_OVER = "handed_over"
    PENDING = "pending"


class Route(Wire):
    """How a turn's agent was chosen, in a domain with a manager."""

    reason: RouteReason = Field(
        description="`asked`: the request named it; `mention`: the message mentions it;"
        " `continues`: the message continues with the agent that spoke last; `manager`: the"
        " manager has it; `handed_over`: the manager delegated it; `pending`: not decided yet."
    )
    answer: Literal["YES", "NO", "UNSURE"] | None = Field(
        None, description="Whether the message continues with `candidate`; null: not asked."
    )
    candidate: str | None = Field(None, description="The agent that spoke last.")
    detail: str | None = Field(None, description="The reason, in words.")
    usage: Usage | None = Field(None, description="What deciding this has used.")
    observed: bool = Field(False, description="The manager chose not to respond.")


class WaitsFor(StrEnum):
    """What a waiting turn waits for: a person's decision, or its tasks to end."""

    PEOPLE = "people"
    TASKS = "tasks"


class TurnState(Wire):
    """A turn's progress beyond its status. Seconds are measured by the database's clock."""

    attempts: int
    steps: int
    stop_requested: bool = Field(
        False, description="A stop was requested; the turn is stopping if it still runs."
    )
    losses: int = Field(0, description="How many times its worker was lost.")
    heartbeat_seconds: float | None = Field(
        None, description="Seconds since its worker's last heartbeat; null unless it runs."
    )
    lease_seconds: float | None = Field(
        None, description="Seconds left of its worker's lease; negative: the worker is lost."
    )
    model_retries: int = Field(0, description="How often a model call was retried.")
    model_wait: ModelWait | None = Field(
        None, description="The current wait before a retry of a model call, if any."
    )


class Turn(TurnState):
    """The work that one message starts. `message` is its text."""

    id: UUID
    session_id: UUID
    status: TurnStatus
    agent: str
    model: str | None = Field(
        None, description="The model that was chosen for it; null: the default."
    )
    route: Route | None = Field(
        None, description="How its agent was chosen; null: its domain has no manager."
    )
    waits_for: WaitsFor | None = Field(
        None,
        description="Whether a waiting turn waits for a person or for its tasks; null: it continues"
        " as soon as a worker is free.",
    )
    message: str
    usage: Usage
    usage_by_model: dict[str, Usage] = Field(
        {}, description="The same per model, by the name that was requested."
    )
    error: ErrorSummary | None
    fork_of: UUID | None = Field(
        None, description="The first turn of which this is another version."
    )
    queue_position: int | None = Field(
        description="How many turns of this session are ahead; null unless queued."
    )
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class TurnPage(Wire):
    """The unfinished turns of a session, in order."""

    items: list[Turn]
