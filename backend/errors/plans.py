"""Errors about a plan's tasks and the sessions that they run in."""

from uuid import UUID

from backend.errors.base import AppError


class TaskNotFound(AppError):
    """There is no such task, or its session was deleted."""

    status = 404


class TaskNotAsking(AppError):
    """This task is not waiting for a decision; someone may have decided. Nothing was changed."""

    status = 409


class SessionOfTask(AppError):
    """This session runs a task of another one. Delete that one, and this is deleted with it."""

    status = 409


class PlanDecides(AppError):
    """This session runs a task of a plan, and only the plan can give it work.

    Open the plan's session: a task that waits for a decision can be retried there.
    """

    status = 409

    def __init__(self, parent_id: UUID) -> None:
        super().__init__(
            "This session runs a task of a plan, and only the plan can give it work. Open the"
            f" plan in session {parent_id}: a task that waits for a decision can be retried there."
        )


class TasksStopping(AppError):
    """Tasks of this turn are still being stopped; nothing was changed. Try again in a moment."""

    status = 409
    retry_after = 1
