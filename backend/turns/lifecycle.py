"""The statuses of a turn and the transitions between them: pure rules."""

from backend.schemas.conversations.turns import TurnStatus

MAX_LOSSES = 3  # with no step saved between them

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
    """Return whether a turn of `status` may move to `following`."""
    return following in TRANSITIONS[status]


def check_transition(status: TurnStatus, following: TurnStatus) -> None:
    """Raise RuntimeError, a bug, if a turn of `status` cannot become `following`."""
    if following is not status and not may_become(status, following):
        raise RuntimeError(f"a turn that is {status} cannot become {following}")


def statuses_before(following: TurnStatus) -> frozenset[TurnStatus]:
    """Return the statuses from which a turn may move to `following`."""
    return frozenset(status for status in TRANSITIONS if may_become(status, following))


def is_finished(status: TurnStatus) -> bool:
    """Return whether nothing follows this status."""
    return status not in UNFINISHED


def losses_in_row(before: int, lost_at_step: int | None, steps: int) -> int:
    """Return how many workers in a row were lost at `steps` saved steps, with this one.

    `before` were lost at `lost_at_step`. Each saved step resets the count, so a turn that makes
    progress continues however often it loses a worker; handing over does not count as a loss.
    """
    return before + 1 if lost_at_step == steps else 1


def is_suspect(losses: int) -> bool:
    """Return whether a turn that lost this many workers in a row may be what ends them.

    So may others that were lost with it. It therefore runs in a process of its own until it has
    saved a step or is lost again: only then is it the cause, and given up.
    """
    return losses == MAX_LOSSES - 1


def is_exhausted(losses: int) -> bool:
    """Return whether a turn that lost this many workers in a row is given up."""
    return losses >= MAX_LOSSES
