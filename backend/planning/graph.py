"""The rules of a plan: what is ready, what follows when a task ends, its status. Pure."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from backend.schemas.conversations.turns import TurnStatus
from backend.schemas.tasks import OnFailure, PlanStatus, TaskStatus

MOST_TRIES = 3

_LOST = frozenset({TaskStatus.FAILED, TaskStatus.SKIPPED, TaskStatus.STOPPED})
_OPEN = frozenset({TaskStatus.PENDING, TaskStatus.RUNNING, TaskStatus.ASKING})


class Node(Protocol):
    """A task, as the rules see it."""

    temp_id: str
    depends_on: list[str]
    status: str


N = TypeVar("N", bound=Node)


def find_ready(nodes: Sequence[N]) -> list[N]:
    """Return the pending tasks whose dependencies have all succeeded."""
    status = _statuses(nodes)
    return [
        node
        for node in nodes
        if node.status == TaskStatus.PENDING
        and all(status[one] == TaskStatus.SUCCEEDED for one in node.depends_on)
    ]


def find_lost(nodes: Sequence[N]) -> list[N]:
    """Return the pending tasks that can never begin, at any depth below a lost one."""
    status, lost = _statuses(nodes), []
    is_more = True
    while is_more:
        is_more = False
        for node in nodes:
            if status[node.temp_id] == TaskStatus.PENDING and any(
                status[one] in _LOST for one in node.depends_on
            ):
                status[node.temp_id] = TaskStatus.SKIPPED
                lost.append(node)
                is_more = True
    return lost


def after_turn(
    ended: TurnStatus, on_failure: OnFailure, tries: int, *, is_hopeless: bool = False
) -> TaskStatus:
    """Return a task's status after its turn ended this way; pending: it is retried.

    `is_hopeless`: another try would fail the same way.
    """
    if ended is TurnStatus.SUCCEEDED:
        return TaskStatus.SUCCEEDED
    if ended is TurnStatus.STOPPED:
        return TaskStatus.STOPPED
    if on_failure is OnFailure.ASK:
        return TaskStatus.ASKING
    if on_failure is OnFailure.RETRY and tries < MOST_TRIES and not is_hopeless:
        return TaskStatus.PENDING
    return TaskStatus.FAILED


def plan_status(nodes: Sequence[Node]) -> PlanStatus:
    """Return a plan's status from those of its tasks."""
    found = {TaskStatus(node.status) for node in nodes}
    if TaskStatus.ASKING in found:
        return PlanStatus.WAITING
    if found & _OPEN:
        return PlanStatus.RUNNING
    if TaskStatus.STOPPED in found:
        return PlanStatus.STOPPED
    return PlanStatus.FAILED if found & _LOST else PlanStatus.SUCCEEDED


def _statuses(nodes: Sequence[Node]) -> dict[str, str]:
    return {node.temp_id: node.status for node in nodes}
