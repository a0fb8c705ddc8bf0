"""What an active turn has given so far, made from its stored rows and its events. Pure."""

import time
from collections.abc import Callable, Iterable
from uuid import UUID

from backend.schemas.sessions import (
    ContentType,
    DisplayMessage,
    EventName,
    MessageStatus,
    MessageType,
    Turn,
    TurnStatus,
)
from ui.features.chat.blocks import Block, to_blocks
from ui.features.chat.events import Event
from ui.shared.states import queue_words, wait_words, waiting_words

ASKED_AGAIN = "The answer broke off and is asked for again."
# What is drawn of an answer that still streams, and of the thoughts, of which the last ones are.
DRAWN_CHARS = 20_000
THINKING_CHARS = 2_000
RESETS = {
    "worker lost": "",  # a row of the history tells it
    "handed over": "Handed over: another worker goes on from the last saved step.",
}


class LiveTurn:
    """Reduces events to rows and a draft: the text and thinking that no stored row holds yet."""

    def __init__(
        self,
        turn: Turn,
        rows: Iterable[DisplayMessage],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.turn = turn
        self._clock = clock
        self.thinking = ""
        self.text = ""
        self.notice = ""
        self._wait: tuple[float, str] | None = None
        self._tools_say: dict[str, str] = {}
        self._ids: dict[EventName, str] = {}
        self.is_finished = False
        self.is_lost = False
        self.queued_ids: set[UUID] = set()
        self._rows = {row.position: row for row in rows}
        self._in_order: list[DisplayMessage] | None = None
        self._blocks: list[Block] = []
        self._step = 1
        self._watermark = max(self._rows, default=0)
        self._is_replaying = bool(self._rows)
        self._take_wait(turn)

    def apply(self, events: Iterable[Event]) -> None:
        """Take a batch of events; those of other turns only tell what is queued."""
        for event in events:
            if event.name is None:
                self.is_lost = True
            elif event.name is EventName.TURN_QUEUED:
                self.queued_ids.add(UUID(event.turn_id))
            elif event.turn_id == str(self.turn.id):
                self._apply(event.name, event.data)

    def store(self, turn: Turn, rows: Iterable[DisplayMessage]) -> None:
        """Take what is stored, for when no events come although the turn goes on."""
        if turn.status is not self.turn.status or turn.attempts != self.turn.attempts:
            self._turn_is(turn, EventName.TURN_STARTED)
        self.turn = turn
        self._take_wait(turn)
        for row in rows:
            known = self._rows.get(row.position)
            if known is None or _PROGRESS[row.status] > _PROGRESS[known.status]:
                name = EventName.MESSAGE_UPDATED if known else EventName.MESSAGE_ADDED
                self._put(row, name)

    def settle(self) -> None:
        """Nothing came for a while: what was replayed is all there is."""
        self._is_replaying = False

    @property
    def has_draft(self) -> bool:
        """Whether there is text to be shown that is not stored yet.

        While the stream repeats what is stored already, its text is not shown a second time.
        """
        return not self._is_replaying and bool(self.thinking or self.text)

    @property
    def blocks(self) -> list[Block]:
        """The turn's rows in order, without the person's question."""
        self._refresh()
        return self._blocks

    @property
    def waits_for(self) -> list[DisplayMessage]:
        """What a person must decide before the turn goes on."""
        if self.turn.status is not TurnStatus.WAITING:
            return []
        return [block.asked or block.row for block in self.blocks if block.waits]

    @property
    def activity(self) -> str:
        """What the turn does at this moment, in a word or two."""
        if self.turn.status is TurnStatus.QUEUED:
            return queue_words(self.turn.queue_position)
        if self.turn.status is TurnStatus.WAITING:
            return "Going on" if not self.waits_for else waiting_words(len(self.waits_for))
        if self.turn.stop_requested:
            return "Stopping"
        if self._wait:
            until, reason = self._wait
            return wait_words(until - self._clock(), reason)
        running = [block.row for block in self.blocks if _is_running(block)]
        if running:
            call = running[-1].content
            said = self._tools_say.get(str(call.get("call_id")))
            return f"Running {call.get('name', 'a tool')}" + (f": {said}" if said else "")
        return "Writing" if self.text and self.has_draft else "Thinking"

    @property
    def step(self) -> int:
        """Which step runs: a model's message is one, and so is a batch of tool results."""
        self._refresh()
        return self._step

    def _refresh(self) -> None:
        """Make blocks and count steps when a row has changed: not for each piece of text."""
        if self._in_order is not None:
            return
        self._in_order = [self._rows[position] for position in sorted(self._rows)]
        self._blocks = to_blocks(
            row for row in self._in_order if row.message_type is not MessageType.USER
        )
        self._step, before = 1, None
        for row in self._in_order:
            is_answer = row.message_type is MessageType.ASSISTANT and row.sequence == 0
            is_batch = row.message_type is MessageType.TOOL and before is not MessageType.TOOL
            self._step += is_answer or is_batch
            before = row.message_type

    def _apply(self, name: EventName, data: dict[str, object]) -> None:
        if name is EventName.PROGRESS:
            self._progress(data)
            return
        self._wait = None
        if name is EventName.RESET:
            self._reset(data)
        elif name in (EventName.TEXT_DELTA, EventName.THINKING_DELTA):
            self._add_delta(name, str(data["message_id"]), str(data["text"]))
        elif name in (EventName.MESSAGE_ADDED, EventName.MESSAGE_UPDATED):
            self._put(DisplayMessage.read(data["message"]), name)
        elif name in (EventName.TURN_STARTED, EventName.TURN_FINISHED, EventName.INTERRUPT):
            self._turn_is(Turn.read(data["turn"]), name)

    def _add_delta(self, name: EventName, message_id: str, text: str) -> None:
        # The model was asked again: what it had begun to say before is void.
        is_new = message_id != self._ids.get(name)
        self._ids[name] = message_id
        if name is EventName.THINKING_DELTA:
            self.thinking = (text if is_new else self.thinking + text)[-THINKING_CHARS:]
        elif is_new:
            self.text = text
        elif len(self.text) <= DRAWN_CHARS:  # more is not drawn before it is stored
            self.text += text

    def _progress(self, data: dict[str, object]) -> None:
        if data.get("state") == "waiting_for_model":
            seconds = float(str(data.get("seconds") or 0))
            self._wait = (self._clock() + seconds, str(data.get("reason") or ""))
        elif data.get("state") == "running_tool":
            self._tools_say[str(data.get("call_id"))] = str(data.get("text") or "")
        elif data.get("state") == "stopping":
            self.turn = self.turn.model_copy(update={"stop_requested": True})

    def _take_wait(self, turn: Turn) -> None:
        if turn.model_wait:
            self._wait = (self._clock() + turn.model_wait.seconds, turn.model_wait.reason)

    def _reset(self, data: dict[str, object]) -> None:
        """What was said of one message, or of all that is not stored, is void."""
        void = data.get("message_id")
        if void in (None, self._ids.get(EventName.TEXT_DELTA)):
            self.text = ""
        if void in (None, self._ids.get(EventName.THINKING_DELTA)):
            self.thinking = ""
        reason = str(data.get("reason") or "").rstrip(".")
        self.notice = RESETS.get(reason, f"{ASKED_AGAIN} {reason}." if reason else ASKED_AGAIN)

    def _turn_is(self, turn: Turn, name: EventName) -> None:
        self.turn = turn
        self.is_finished = name is EventName.TURN_FINISHED
        if name is EventName.TURN_STARTED:
            # A new attempt begins its step again; what the lost one had said of it is not stored.
            self.text = self.thinking = ""

    def _put(self, row: DisplayMessage, name: EventName) -> None:
        known = self._rows.get(row.position)
        if known is None or _PROGRESS[row.status] >= _PROGRESS[known.status]:
            self._rows[row.position] = row
            self._in_order = None
        if row.position >= self._watermark:
            self._is_replaying = False
        if name is EventName.MESSAGE_ADDED and row.message_type is MessageType.ASSISTANT:
            self.text = self.thinking = self.notice = ""


_PROGRESS = {
    MessageStatus.PENDING: 0,
    MessageStatus.EXECUTING: 1,
    MessageStatus.COMPLETED: 2,
    MessageStatus.FAILED: 2,
    MessageStatus.STOPPED: 2,
}


def _is_running(block: Block) -> bool:
    waits = block.row.status in (MessageStatus.PENDING, MessageStatus.EXECUTING)
    return block.row.content_type is ContentType.TOOL_CALL and block.result is None and waits
