"""One viewer of a session, who gets each event once, across reconnects and Redis data loss."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from pydantic_core import to_json
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.messages import list_messages
from backend.errors.base import InvalidInput
from backend.events.reader import EventReader, LiveEvent, StreamId
from backend.events.stream import data_of
from backend.schemas.conversations.sessions import DisplayMessage, EventContext
from backend.schemas.conversations.turns import Turn, TurnStatus, WaitsFor
from backend.schemas.events import (
    Interrupt,
    MessageAdded,
    NoTurn,
    SessionEvent,
    TurnFinished,
)
from backend.turns.lifecycle import is_finished
from backend.turns.queries import context_of, latest_turn, list_unfinished, turn_of
from db.models.turns.turn import TurnRow
from db.session import Database

GAP_PAGE = 200
# Milliseconds and a number, a position, a turn's name and its attempt; numbers fit 64 bits.
EVENT_ID = re.compile(
    r"[0-9]{1,18}(-[0-9]{1,18})?(\.[0-9]{0,18}(\.[0-9a-f]{0,8}(-[0-9]{1,9})?)?)?", re.ASCII
)
NAME_CHARS = 8  # of a turn's id: enough to distinguish the turns of one session


class ViewerCursor(NamedTuple):
    """How far a viewer has read: in the stream, and in the stored display messages.

    `ended` names the turn whose end, or wait for people, was last sent, so that it is not sent
    twice: Redis may deliver its event after the table has already shown it.
    """

    stream: StreamId
    position: int
    ended: str = ""

    @classmethod
    def parse(cls, text: str) -> "ViewerCursor":
        """Parse an event's id, or 0 for the very beginning. Raise InvalidInput."""
        if not EVENT_ID.fullmatch(text):
            raise InvalidInput("Resume with the id of an event, or with 0.")
        stream, _, stored = text.partition(".")
        position, _, ended = stored.partition(".")
        return cls(StreamId.parse(stream), int(position or 0), ended)

    def __str__(self) -> str:
        return f"{self.stream}.{self.position}" + (f".{self.ended}" if self.ended else "")


class ViewerPosition(NamedTuple):
    """All that decides what a viewer gets next; viewers with equal values get the same events."""

    cursor: ViewerCursor
    ended: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ViewerEvent:
    """An event for a viewer: the cursor after it, its name, and its data as JSON."""

    cursor: ViewerCursor
    event: SessionEvent
    data: bytes


class Viewer:
    """Merges events kept in Redis, live events and rows in PostgreSQL into one sequence."""

    def __init__(
        self, database: Database, reader: EventReader, scope: Scope, session_id: UUID
    ) -> None:
        self._database = database
        self._reader = reader
        self._session_id = session_id
        self.scope = scope
        self.seen = ViewerPosition(ViewerCursor(StreamId(), 0))

    def start(self, after: str | None) -> None:
        """Start after the event `after`; without it, before the active turn.

        Raise SessionNotFound, InvalidInput.
        """
        with self._database.read() as session:
            found = conversations.get(session, self.scope, self._session_id)
        if after is not None:
            cursor = ViewerCursor.parse(after)
            self.seen = ViewerPosition(cursor, frozenset({cursor.ended}))
            return
        first = self._active_turn_begins()
        if first is not None:
            self.seen = ViewerPosition(first)
            return
        self.seen = ViewerPosition(
            ViewerCursor(self._reader.last_id(self._session_id), found.message_count)
        )
        if (latest := self._latest_turn()) is not None and is_finished(latest[0].status):
            self.seen = self.seen._replace(ended=frozenset({_name(latest[0].id)}))

    def catch_up(self) -> list[ViewerEvent]:
        """Return what follows the viewer's cursor; rows that Redis has lost come from the table."""
        kept = self._reader.kept(self._session_id, self.seen.cursor.stream)
        last = max((place for place, live in enumerate(kept) if _position(live)), default=-1)
        events = self._rows_before(None) if last < 0 else []
        for place, live in enumerate(kept):
            if self.has_gap_before(live):
                events.extend(self._rows_before(_position(live)))
            if place > last and isinstance(live.event, TurnFinished):
                events.extend(self._rows_before(None))
            events.extend(self.take(live))
        if not kept:
            events.extend(self._ended_unseen())
            events.extend(self._waits_unseen())
        return events

    def has_gap_before(self, live: LiveEvent) -> bool:
        """Return whether stored rows had no event: Redis was down or has lost it."""
        return (_position(live) or 0) > self.seen.cursor.position + 1

    def take(self, live: LiveEvent) -> list[ViewerEvent]:
        """Return the event for the viewer; nothing if it was sent before."""
        cursor, ended = self.seen
        if live.id <= cursor.stream:
            return []
        is_new, position, last_ended = True, cursor.position, cursor.ended
        if isinstance(live.event, MessageAdded):
            is_new = live.event.message.position > position
            position = max(position, live.event.message.position)
        elif isinstance(live.event, TurnFinished | Interrupt):
            last_ended = _end_of(live.event)
            is_new = last_ended not in ended
            ended |= {last_ended}
        self.seen = ViewerPosition(ViewerCursor(live.id, position, last_ended), ended)
        return [ViewerEvent(self.seen.cursor, live.event, live.data)] if is_new else []

    def _rows_before(self, end: int | None) -> list[ViewerEvent]:
        """Return the stored rows after the viewer's cursor, up to but excluding position `end`."""
        events: list[ViewerEvent] = []
        with self._database.read() as session:
            while end is None or self.seen.cursor.position + 1 < end:
                after = self.seen.cursor.position
                page = list_messages(
                    session, self.scope, self._session_id, after=after, limit=GAP_PAGE
                )
                rows = [row for row in page.items if end is None or row.position < end]
                for row in rows:
                    self._move(position=row.position)
                    context = self._context(session, row)
                    events.append(self._tell(MessageAdded(context=context, message=row)))
                if len(rows) < GAP_PAGE:
                    break
        return events

    def _ended_unseen(self) -> list[ViewerEvent]:
        """Return the end of the latest turn if no event reports it any more."""
        latest = self._latest_turn()
        if latest is None or not is_finished(latest[0].status):
            return []
        turn, context = latest
        return self._tell_once(TurnFinished(context=context, turn=turn))

    def _waits_unseen(self) -> list[ViewerEvent]:
        """Return the active turn's wait for people if no event reports it any more."""
        with self._database.read() as session:
            first = next(iter(list_unfinished(session, self._session_id)), None)
            asks = first is not None and first.waits_for == WaitsFor.PEOPLE
            if first is None or first.status != TurnStatus.WAITING or not asks:
                return []
            turn, context = turn_of(session, first), context_of(session, first)
        return self._tell_once(Interrupt(context=context, turn=turn))

    def _tell_once(self, event: TurnFinished | Interrupt) -> list[ViewerEvent]:
        end = _end_of(event)
        if end in self.seen.ended:
            return []
        self._move(ended=end)
        self.seen = self.seen._replace(ended=self.seen.ended | {end})
        return [self._tell(event)]

    def _latest_turn(self) -> tuple[Turn, EventContext] | None:
        with self._database.read() as session:
            row = latest_turn(session, self._session_id)
            return (turn_of(session, row), context_of(session, row)) if row else None

    def _context(self, session: Session, row: DisplayMessage) -> EventContext | NoTurn:
        turn = session.get(TurnRow, row.turn_id)
        return context_of(session, turn) if turn else NoTurn(session_id=self._session_id)

    def _tell(self, event: SessionEvent) -> ViewerEvent:
        return ViewerEvent(self.seen.cursor, event, to_json(data_of(event)))

    def _move(self, **changes: Any) -> None:
        self.seen = self.seen._replace(cursor=self.seen.cursor._replace(**changes))

    def _active_turn_begins(self) -> ViewerCursor | None:
        """Return the cursor before the active turn's first event; None when no turn is active."""
        with self._database.read() as session:
            unfinished = list_unfinished(session, self._session_id)
        if not unfinished:
            return None
        turn = unfinished[0]
        before = self._reader.place_before(self._session_id, turn.id)
        is_running = turn.status != TurnStatus.QUEUED or turn.message_position is not None
        position = (turn.message_position or 1) - 1 if is_running else 0
        return ViewerCursor(before, position)


def _name(turn_id: UUID) -> str:
    return str(turn_id)[:NAME_CHARS]


def _end_of(event: TurnFinished | Interrupt) -> str:
    """Return a name for an end, or for a wait for people, which each attempt may repeat."""
    name = _name(event.turn.id)
    return f"{name}-{event.turn.attempts}" if isinstance(event, Interrupt) else name


def _position(live: LiveEvent) -> int | None:
    """Return the position of the row that the event reports; None for events of other kinds."""
    return live.event.message.position if isinstance(live.event, MessageAdded) else None
