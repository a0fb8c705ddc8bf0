"""The wire contract of what runs, waits and failed, and of who does it: for administrators."""

from uuid import UUID

from pydantic import Field

from backend.schemas.conversations.turns import ErrorSummary, TurnState, TurnStatus
from backend.schemas.wire import Wire

STILL_SECONDS = 10.0  # a busy machine may hold a loop up for a second or two


class WorkerInfo(Wire):
    """One worker process: how many turns it has in hand, and may have."""

    name: str
    turns: int = Field(ge=0)
    capacity: int = Field(ge=0)
    is_draining: bool
    events_dropped: int = Field(0, ge=0, description="Live events that Redis did not take from it.")
    loop_silence_seconds: float = Field(
        0.0, ge=0, description="For how long the loop of its agents has run nothing at all."
    )

    @property
    def is_still(self) -> bool:
        """Whether its agents stand still: something holds their loop up."""
        return self.loop_silence_seconds >= STILL_SECONDS


class WorkTurn(TurnState):
    """A turn as an admin sees it. `is_retryable`: it has failed, and nothing was asked since."""

    id: UUID
    session_id: UUID
    title: str
    owner: str
    status: TurnStatus
    agent: str
    worker: str | None
    age_seconds: float
    error: ErrorSummary | None
    is_retryable: bool = False


class Work(Wire):
    """What runs, waits and failed; the first hundred of each."""

    queued: int
    running: int
    waiting: int
    redis_answers: bool
    turns: list[WorkTurn]
    failures: list[WorkTurn]
    workers: list[WorkerInfo]
