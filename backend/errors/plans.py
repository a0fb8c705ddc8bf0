"""Why a task cannot be found or decided on, or its session not be deleted or written to."""

from uuid import UUID

from backend.errors.base import AppError


class TaskNotFound(AppError):
    """There is no such task, or its session was deleted."""

    status = 404


class TaskNotAsking(AppError):
    """This task does not ask what is to follow; somebody may have decided. Nothing was changed."""

    status = 409


class SessionOfTask(AppError):
    """A task of another session is worked on here. Delete that one, and this goes with it."""

    status = 409


class PlanDecides(AppError):
    """A task is worked on here, and its plan alone gives it work.

    Open the session of the plan: there a task that asks can be tried again.
    """

    status = 409

    def __init__(self, parent_id: UUID) -> None:
        super().__init__(
            "A task is worked on here, and its plan alone gives it work. Open the plan in session"
            f" {parent_id}: there a task that asks can be tried again."
        )


class TasksStopping(AppError):
    """Tasks of this turn are still being stopped; nothing was changed. Try again in a moment."""

    status = 409
    retry_after = 1
