"""How a turn moves from one status to the next: pure rules."""

from backend.schemas.sessions import TurnStatus

MAX_ATTEMPTS = 3

TRANSITIONS: dict[TurnStatus, frozenset[TurnStatus]] = {
    TurnStatus.QUEUED: frozenset({TurnStatus.RUNNING, TurnStatus.STOPPED, TurnStatus.FAILED}),
    TurnStatus.RUNNING: frozenset(
        {TurnStatus.WAITING, TurnStatus.SUCCEEDED, TurnStatus.FAILED, TurnStatus.STOPPED}
    ),
    TurnStatus.WAITING: frozenset({TurnStatus.RUNNING, TurnStatus.FAILED, TurnStatus.STOPPED}),
    TurnStatus.SUCCEEDED: frozenset(),
    TurnStatus.FAILED: frozenset(),
    TurnStatus.STOPPED: frozenset(),
}

UNFINISHED = frozenset(status for status, following in TRANSITIONS.items() if following)
RETRYABLE = frozenset({TurnStatus.FAILED, TurnStatus.STOPPED})


def may_become(status: TurnStatus, following: TurnStatus) -> bool:
    """Whether a turn of `status` may move to `following`."""
    return following in TRANSITIONS[status]


def is_finished(status: TurnStatus) -> bool:
    """Whether nothing follows this status."""
    return status not in UNFINISHED


def is_exhausted(losses: int) -> bool:
    """Whether a turn that has lost its worker this often is given up; handing over is no loss."""
    return losses >= MAX_ATTEMPTS
