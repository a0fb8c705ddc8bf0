"""The wire contract of unfinished and failed work, and of workers; for administrators."""

from uuid import UUID

from pydantic import Field

from backend.schemas.conversations.turns import ErrorSummary, TurnState, TurnStatus
from backend.schemas.wire import Wire

FAILURE_HOURS = 24
STALLED_SECONDS = 10.0  # a busy machine may block a loop for a second or two


class WorkerInfo(Wire):
    """One worker process: how many turns it runs, and how many it can run."""

    name: str
    turns: int = Field(ge=0)
    capacity: int = Field(ge=0)
    is_draining: bool
    events_dropped: int = Field(0, ge=0, description="Live events that Redis did not accept.")
    loop_silence_seconds: float = Field(
        0.0, ge=0, description="Seconds since the event loop of its agents last ran."
    )
    obstacle: str = Field(
        "", description="Why it takes no turns although it goes on, such as a newer schema."
    )

    sources: str = Field(
        "", description="A digest of the sources of its host: the same where these are the same."
    )

    @property
    def is_stalled(self) -> bool:
        """Whether its agents are stalled because something blocks their loop."""
        return self.loop_silence_seconds >= STALLED_SECONDS


class WorkTurn(TurnState):
    """A turn as an admin sees it.

    `is_retryable`: it failed, and no message came after it on the branch that its session shows. A
    task's turn is retried with its plan.
    """

    id: UUID
    session_id: UUID
    title: str
    owner: str
    owner_name: str
    status: TurnStatus
    agent: str
    worker: str | None
    age_seconds: float
    error: ErrorSummary | None
    is_retryable: bool = False


class Work(Wire):
    """Queued, running and waiting turns, and recent failures; at most a hundred of each list."""

    queued: int
    running: int
    waiting: int
    redis_answers: bool
    turns: list[WorkTurn]
    failures: list[WorkTurn] = Field(
        description=f"Turns that failed within the last {FAILURE_HOURS} hours, the latest first."
    )
    workers: list[WorkerInfo]
