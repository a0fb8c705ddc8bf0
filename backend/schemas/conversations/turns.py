"""The wire contract of turns: the work that messages ask for, and how it stands."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Wire


class TurnStatus(StrEnum):
    """Where a turn stands: queued -> running <-> waiting -> succeeded, failed or stopped."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


class ErrorSummary(Wire):
    """Why a turn failed, in words for a person."""

    title: str
    detail: str


class Usage(Wire):
    """What a turn has used: tokens, and their cost by MODEL_PRICES of the settings."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    model_calls: int = 0
    cost: float = 0.0


class ModelWait(Wire):
    """The model's provider lets a turn wait: it is asked again in so many seconds."""

    seconds: float
    reason: str


class RouteReason(StrEnum):
    """Why a turn is with its agent."""

    ASKED = "asked"
    MENTION = "mention"
    CONTINUES = "continues"
    MANAGER = "manager"
    HANDED_OVER = "handed_over"
    PENDING = "pending"


class Route(Wire):
    """How a turn found its agent, in a domain with a manager."""

    reason: RouteReason = Field(
        description="`asked`: the request named it; `mention`: the message; `continues`: it goes on"
        " with the agent that spoke last; `manager`; `handed_over`: by the manager; `pending`: not"
        " decided yet."
    )
    answer: Literal["YES", "NO", "UNSURE"] | None = Field(
        None, description="Whether the message continues with `candidate`; null: not asked."
    )
    candidate: str | None = Field(None, description="The agent that spoke last.")
    detail: str | None = Field(None, description="Why, in words.")
    usage: Usage | None = Field(None, description="What that question has cost.")
    observed: bool = Field(False, description="The manager had nothing to say.")


class WaitsFor(StrEnum):
    """What a waiting turn waits for: a person's decision, or the end of its tasks."""

    PEOPLE = "people"
    TASKS = "tasks"


class TurnState(Wire):
    """What tells a turn's true state, beside its status. Seconds are by the database's clock."""

    attempts: int
    steps: int
    stop_requested: bool = Field(
        False, description="It was asked to stop; while it still runs, it is stopping."
    )
    losses: int = Field(0, description="How many workers it has lost.")
    heartbeat_seconds: float | None = Field(
        None, description="Since its worker's last heartbeat; null unless it runs."
    )
    lease_seconds: float | None = Field(
        None, description="What is left of its worker's lease; negative: the worker is lost."
    )
    model_retries: int = Field(0, description="How often its model had to be asked again.")
    model_wait: ModelWait | None = Field(
        None, description="What it waits for, if its model is to be asked again."
    )


class Turn(TurnState):
    """The work that one message asks for. `message` is what was asked."""

    id: UUID
    session_id: UUID
    status: TurnStatus
    agent: str
    model: str | None = Field(
        None, description="The model that was chosen for it; null: the default one."
    )
    route: Route | None = Field(
        None, description="How it found its agent; null: its domain has no manager."
    )
    waits_for: WaitsFor | None = Field(
        None, description="Whether a waiting turn waits for people, or for its tasks."
    )
    message: str
    usage: Usage
    usage_by_model: dict[str, Usage] = Field(
        {}, description="The same, by the names under which models were asked."
    )
    error: ErrorSummary | None
    fork_of: UUID | None = Field(
        None, description="The first turn of which this one is another version."
    )
    queue_position: int | None = Field(
        description="Turns of this session before it; null unless queued."
    )
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class TurnPage(Wire):
    """The turns of a session that are not finished, in order."""

    items: list[Turn]
