"""The wire contract of what runs, waits and failed, and of who does it: for administrators."""

from uuid import UUID

from pydantic import Field

from backend.schemas.sessions import ErrorSummary, TurnState, TurnStatus
from backend.schemas.wire import Wire


class WorkerInfo(Wire):
    """One worker process: how many turns it has in hand, and may have."""

    name: str
    turns: int
    capacity: int
    is_draining: bool
    events_dropped: int = Field(0, description="Live events that Redis did not take from it.")


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
