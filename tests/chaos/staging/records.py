"""What was seen of a run: by clients, by the scripted model and tools, by the database itself."""

import threading
from dataclasses import dataclass, field
from typing import Any

from backend.types import JSON


@dataclass(frozen=True)
class Submitted:
    """A 2xx answer to a message; `at` and all other times are seconds since the epoch."""

    at: float
    key: str
    text: str
    turn_id: str
    session_id: str


@dataclass(frozen=True)
class Answered:
    """Any request's end: a status, or 0 where no answer came."""

    at: float
    method: str
    path: str
    status: int
    seconds: float
    retry_after: str | None = None
    reason: str = ""


@dataclass(frozen=True)
class Stopped:
    """A 2xx answer to a request to stop a turn."""

    at: float
    turn_id: str


@dataclass(frozen=True)
class Deleted:
    """A 2xx answer to the deletion of a session."""

    at: float
    session_id: str


@dataclass(frozen=True)
class PageRead:
    """A session's history as a client has read it, from the first row."""

    at: float
    session_id: str
    rows: tuple[JSON, ...]


@dataclass(frozen=True)
class Followed:
    """An event as one follower got it; `connection` counts up with each reconnect."""

    at: float
    follower: str
    connection: int
    session_id: str
    id: str
    event: str
    data: JSON


@dataclass(frozen=True)
class Said:
    """An answer that the model gave, in full or not; `keys` name the calls it asked for."""

    at: float
    marker: str
    text: str
    keys: tuple[str, ...] = ()
    is_whole: bool = True


@dataclass(frozen=True)
class Ran:
    """A tool's run: what it did is done at `started`, its answer leaves at `ended`."""

    started: float
    name: str
    key: str
    ended: float | None = None


@dataclass(frozen=True)
class Disturbed:
    """A fault as it was done, from when to when."""

    kind: str
    target: str
    started: float
    ended: float
    victims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Note:
    """One committed change of a row, as a trigger wrote it down, in the order of the changes."""

    id: int
    at: float
    tx: int
    table: str
    op: str
    row: JSON


@dataclass
class History:
    """All records of a run. Threads append; a checker reads when all is over."""

    submitted: list[Submitted] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)
    stopped: list[Stopped] = field(default_factory=list)
    deleted: list[Deleted] = field(default_factory=list)
    pages: list[PageRead] = field(default_factory=list)
    followed: list[Followed] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    ran: list[Ran] = field(default_factory=list)
    disturbed: list[Disturbed] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    turns: list[JSON] = field(default_factory=list)
    rows: list[JSON] = field(default_factory=list)
    unopened: list[str] = field(default_factory=list)
    ended_at: float = 0.0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def add(self, record: Any) -> None:
        """Take a record from any thread."""
        with self._lock:
            getattr(self, _LISTS[type(record)]).append(record)

    def was_disturbed(self, kinds: tuple[str, ...], start: float, end: float) -> bool:
        """Whether a fault of these kinds, by the beginning of their names, fell into a time."""
        return any(
            fault.kind.startswith(kinds) and fault.started <= end and fault.ended >= start
            for fault in self.disturbed
        )


_LISTS: dict[type, str] = {
    Submitted: "submitted",
    Answered: "answered",
    Stopped: "stopped",
    Deleted: "deleted",
    PageRead: "pages",
    Followed: "followed",
    Said: "said",
    Disturbed: "disturbed",
}
