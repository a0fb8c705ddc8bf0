"""The frames that a browser receives while it follows a session, made from the session's events.

Pure. A frame is one of these; the browser's part is `ui/assets/live.js`:

| kind | fields | what the browser does |
|---|---|---|
| `begin` | `active` | drops its drafts, which are sent again; draws if `active` is not its turn |
| `text`, `thinking` | `id`, `turn`, `agent`, `text` | appends a piece to the message with this id |
| `void` | `id` | removes one message; without an id, all of this session that are not stored |
| `stored` | `id` | makes the page draw this row, then drops its own copy |
| `changed` | | makes the page draw what is stored |
| `ended` | `turn` | makes the page draw the turn's end; what was not stored is dropped |
| `news` | `text` | tells this to a person who looks elsewhere |
| `status` | `text`, `details`, `notice`, `away` | shows what the turn does; empty: none runs |

A `text` from the session of a task also has the task's name, as `task`.
"""

import time
from collections.abc import Callable, Iterable
from uuid import UUID

from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.conversations.turns import Turn, TurnStatus
from backend.schemas.events import (
    Interrupt,
    MessageAdded,
    MessageUpdated,
    Reset,
    SessionEvent,
    TaskUpdated,
    TextDelta,
    ThinkingDelta,
    TurnFinished,
    TurnQueued,
    TurnStarted,
)
from backend.types import JSON
from ui.features.chat.live.live_turn import LiveTurn
from ui.features.plans.words import waits_for_people
from ui.shared.states import end_words, next_try_words, running_words

AWAY = "The service does not answer. Nothing is lost; reconnecting"


class SessionFrames:
    """Turns the events of one session into frames for one browser."""

    def __init__(self, active: Turn | None, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._live = LiveTurn(active, ()) if active else None
        self._said = ("", "", "", False)
        self.is_away = False

    @property
    def is_active(self) -> bool:
        """Whether a turn runs or waits, so that there may be something to report."""
        return self._live is not None and not self._live.is_finished

    def apply(self, events: Iterable[SessionEvent]) -> list[JSON]:
        """Return the frames of a batch of events, with adjacent pieces of a message joined."""
        frames: list[JSON] = []
        for event in events:
            for frame in self._frames(event):
                if frames and _continues(frames[-1], frame):
                    frames[-1]["text"] += frame["text"]
                else:
                    frames.append(frame)
        return frames

    def store(self, turns: list[Turn], rows: Iterable[DisplayMessage]) -> list[JSON]:
        """Return the frames of stored rows that no event has reported."""
        live = self._live
        active = turns[0] if turns else None
        if live is None or active is None or active.id != live.turn.id:
            self._live = LiveTurn(active, ()) if active else None
            if live is not None and not live.is_finished:
                return [{"kind": "ended", "turn": str(live.turn.id)}, _news("It has ended.")]
            return [{"kind": "changed"}] if active else []
        was = (live.turn.status, live.turn.stop_requested, live.turn.attempts)
        stored = live.store(active, [row for row in rows if row.turn_id == active.id])
        frames: list[JSON] = [{"kind": "stored", "id": str(row_id)} for row_id in stored]
        if was != (active.status, active.stop_requested, active.attempts):
            frames.append({"kind": "changed"})
        return frames

    def status(self) -> list[JSON]:
        """Return the current status frame of the turn, if it has changed."""
        said = (*self._words(), self.is_away)
        if said == self._said:
            return []
        self._said = said
        text, details, notice, away = said
        frame = {"kind": "status", "text": text, "details": details, "notice": notice}
        return [{**frame, "away": away}]

    def _words(self) -> tuple[str, str, str]:
        """Return what the turn is doing, the details that change all the time, and the notice."""
        live = self._live
        if live is None or live.is_finished or live.waits_for:
            return "", "", ""  # the page itself says that the service is away
        if self.is_away:
            return f"{AWAY}…", "", ""
        turn = live.turn
        activity = f"{live.activity}…"
        if turn.status is TurnStatus.QUEUED:
            return activity, "", live.notice
        since = turn.started_at or turn.created_at
        words = running_words(turn, live.step, self._clock() - since.timestamp())
        if next_try := next_try_words(live.wait_seconds):
            words = [next_try, *words]
        return activity, " · ".join(["", *words]), live.notice

    def _frames(self, event: SessionEvent) -> list[JSON]:
        turn = getattr(event, "turn", None)
        if isinstance(turn, Turn) and self._takes(event, turn):
            self._live = LiveTurn(turn, ())
        live = self._live
        if isinstance(event, TaskUpdated) and waits_for_people(event.task):
            return _asks()
        if isinstance(event, TurnQueued | TaskUpdated):
            return [{"kind": "changed"}]
        if live is None or event.context.turn_id != live.turn.id:
            return [{"kind": "changed"}] if isinstance(event, MessageAdded) else []
        frames = self._of_turn(event, live)
        live.apply(event)
        return frames

    def _takes(self, event: SessionEvent, turn: Turn) -> bool:
        """Return whether this event begins the turn that is reported from now on."""
        live = self._live
        if live is not None and live.turn.id == turn.id:
            return False
        return not self.is_active or isinstance(event, TurnStarted)

    def _of_turn(self, event: SessionEvent, live: LiveTurn) -> list[JSON]:
        match event:
            case TextDelta() | ThinkingDelta():
                return [] if live.is_stored(event.message_id) else [_piece(event)]
            case Reset():
                return [{"kind": "void", "id": _text(event.message_id)}]
            case TurnStarted():
                return [{"kind": "void", "id": None}, {"kind": "changed"}]
            case MessageAdded() | MessageUpdated():
                return [{"kind": "stored", "id": str(event.message.id)}]
            case TurnFinished():
                ended: JSON = {"kind": "ended", "turn": str(event.turn.id)}
                words = end_words(event.turn)
                return [ended, _news(words)] if words else [ended]
            case Interrupt():
                return _asks()
        return []


class TaskFrames:
    """Turns the frames of a task's session into frames for the page that shows its plan.

    Only text that streams: stored text is shown by the task's own session, and its end by the plan.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: dict[str, None] = {}

    def apply(self, frames: Iterable[JSON]) -> list[JSON]:
        """Return the page's frames for a batch."""
        return [told for frame in frames for told in self._of(frame)]

    def take_back(self) -> list[JSON]:
        """Return the frames that remove all messages sent and not removed yet."""
        said, self._said = self._said, {}
        return [{"kind": "void", "id": message_id} for message_id in said]

    def _of(self, frame: JSON) -> list[JSON]:
        kind, message_id = frame["kind"], frame.get("id")
        if kind == "text":
            self._said[str(message_id)] = None
            return [{**frame, "task": self._name}]
        if kind in ("void", "stored") and message_id is not None:
            known = self._said.pop(message_id, self) is None
            return [{"kind": "void", "id": message_id}] if known else []
        return self.take_back() if kind in ("begin", "void", "ended") else []


def _piece(event: TextDelta | ThinkingDelta) -> JSON:
    return {
        "kind": "text" if isinstance(event, TextDelta) else "thinking",
        "id": str(event.message_id),
        "turn": str(event.context.turn_id),
        "agent": event.context.agent_id,
        "text": event.text,
    }


def _news(text: str) -> JSON:
    return {"kind": "news", "text": text}


def _asks() -> list[JSON]:
    return [{"kind": "changed"}, _news("It waits for your decision.")]


def _continues(before: JSON, frame: JSON) -> bool:
    """Return whether a piece continues the one before it."""
    is_piece = frame["kind"] in ("text", "thinking")
    return is_piece and (before["kind"], before.get("id")) == (frame["kind"], frame["id"])


def _text(message_id: UUID | None) -> str | None:
    return str(message_id) if message_id else None
