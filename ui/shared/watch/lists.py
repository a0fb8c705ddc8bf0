"""Lists that pages show in addition to the sessions: the calls that read them, and comparison.

Pure. A page reads them to draw them, the route in `shared/watch/route` to check for changes.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from backend.schemas.approvals import Approval, ApprovalPage
from backend.schemas.tasks import Task, TaskPage, TaskStatus

PAGE_ROWS = 50
ACTIVE_ROWS = 20  # of each active task status
ACTIVE = (TaskStatus.ASKING, TaskStatus.RUNNING, TaskStatus.PENDING)

Row = Approval | Task
Params = Mapping[str, str | int]


class Listed(BaseModel):
    """The list that a page shows, and the part of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    list: Literal["approvals", "tasks"] | None = None
    everyone: bool = False
    status: TaskStatus | None = None
    cursor: str | None = None

    @property
    def has_active(self) -> bool:
        """Whether active tasks come first: on the first page, with no status chosen."""
        return self.list == "tasks" and self.status is None and self.cursor is None


NO_LIST = Listed()


def calls_of(listed: Listed) -> list[tuple[str, Params]]:
    """Return the calls that read the list: paths with their parameters."""
    if listed.list is None:
        return []
    scope: Params = {"scope": "all"} if listed.everyone else {}
    place = {"status": listed.status, "cursor": listed.cursor}
    page: Params = {name: value for name, value in place.items() if value is not None}
    calls: list[tuple[str, Params]] = [(listed.list, {**scope, **page, "limit": PAGE_ROWS})]
    if listed.has_active:
        calls += [("tasks", {**scope, "status": one, "limit": ACTIVE_ROWS}) for one in ACTIVE]
    return calls


def read_rows(path: str, answer: bytes) -> Sequence[Row]:
    """Return the rows of a response to one of these calls. Raise ValidationError."""
    if path == "approvals":
        return ApprovalPage.read(answer).items
    return TaskPage.read(answer).items


def mark_of(row: Row) -> tuple[object, ...]:
    """Return the fields of a row that a page shows and that may change elsewhere."""
    if isinstance(row, Approval):
        return (row.id,)
    return (row.id, row.status, row.steps, row.tries, row.waiting_for_approval)
