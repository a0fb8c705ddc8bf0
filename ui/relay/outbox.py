"""What waits for a browser: events and states of sessions, joined and bounded. No I/O."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass

from backend.types import JSON

MOST_WAITING = 4_000_000  # characters; if a browser reads none, the API has to wait


@dataclass
class Told:
    """An event for a browser, or a state of the stream, which has no id.

    `data` is JSON as the API wrote it. Of a piece of a message it lacks the `text`, and pieces with
    equal data are of one message.
    """

    session: str
    id: str = ""
    event: str = ""
    data: str = "{}"
    text: str | None = None

    @property
    def size(self) -> int:
        """How many characters it takes, about."""
        return 100 + len(self.data) + len(self.text or "")

    def continues(self, other: "Told | None") -> bool:
        """Return whether it is the next piece of the same message."""
        if other is None or self.text is None or other.text is None:
            return False
        kinds = (self.session, self.event, self.data), (other.session, other.event, other.data)
        return kinds[0] == kinds[1]


class Outbox:
    """What waits for one browser, in order. Pieces that follow each other are joined."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._most = most
        self._waiting: list[Told] = []
        self._latest: dict[str, Told] = {}  # by session: those of others may come between pieces
        self._size = 0
        self._has_some = asyncio.Event()
        self._has_room = asyncio.Event()

    async def put(self, told: Told) -> None:
        """Add something, once there is room."""
        while self._size > self._most:
            self._has_room.clear()
            await self._has_room.wait()
        latest = self._latest.get(told.session)
        if latest is not None and told.continues(latest):
            latest.id = told.id
            latest.text = f"{latest.text}{told.text}"
            self._size += len(told.text or "")
            return
        self._waiting.append(told)
        self._latest[told.session] = told
        self._size += told.size
        self._has_some.set()

    async def take(self) -> list[Told]:
        """Wait until there is something, and take all of it."""
        await self._has_some.wait()
        taken = self._waiting
        self._keep([])
        return taken

    def drop(self, session: str) -> None:
        """Forget what waits of a session that is no longer followed, or from another place on."""
        self._keep([told for told in self._waiting if told.session != session])

    def _keep(self, waiting: list[Told]) -> None:
        self._waiting = waiting
        self._latest = {told.session: told for told in waiting}
        self._size = sum(told.size for told in waiting)
        self._has_room.set()
        if not waiting:
            self._has_some.clear()


class Writer:
    """Writes batches for one browser, each piece by what differs from the one before it."""

    def __init__(self) -> None:
        self._before: Told | None = None

    def write(self, batch: Iterable[Told]) -> str:
        """Return a batch as the JSON that a browser reads."""
        return f"[{','.join(map(self._next, batch))}]"

    def _next(self, told: Told) -> str:
        before, self._before = self._before, told
        later = _later(before, told) if before else None
        return _written(told) if later is None else dumps([later, told.text])


def state(session: str, name: str, **more: JSON | str | None) -> Told:
    """Return a state of a session's stream."""
    return Told(session, data=dumps({"session": session, "state": name, **more}))


def dumps(value: object) -> str:
    """Return a value as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _later(before: Told, told: Told) -> int | None:
    """Return how many milliseconds later a piece was told than the one that it continues.

    None if that is not all that differs in their places, which Redis gives: `1700000000000-0`, with
    a count for those of one millisecond.
    """
    (was, _, its_rest), (at, _, rest) = before.id.partition("-"), told.id.partition("-")
    is_all = told.continues(before) and its_rest == rest and was.isdecimal() and at.isdecimal()
    return int(at) - int(was) if is_all else None


def _written(told: Told) -> str:
    if not told.event:
        return told.data
    # What differs from piece to piece comes last: the rest is one repetition for the compression.
    data = told.data if told.text is None else f'{told.data[:-1]},"text":{dumps(told.text)}}}'
    about = f'"session":{dumps(told.session)},"event":{dumps(told.event)}'
    return f'{{{about},"data":{data},"id":{dumps(told.id)}}}'
