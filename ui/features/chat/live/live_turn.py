"""The state of an active turn in words, made from its stored rows and its events. Pure."""

import time
from collections.abc import Callable, Iterable
from uuid import UUID

from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.conversations.turns import RouteReason, Turn, TurnStatus, WaitsFor
from backend.schemas.events import (
    Interrupt,
    MessageAdded,
    MessageUpdated,
    Progress,
    Reset,
    SessionEvent,
    TextDelta,
    ThinkingDelta,
    TurnFinished,
    TurnStarted,
)
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from ui.features.chat.messages.blocks import Block, to_blocks
from ui.features.plans.matching import PLAN_TOOLS
from ui.shared.states import queue_words, wait_words, waiting_words

ON_TASKS = "Waiting for its tasks"  # also when these wait for a person
ASKED_AGAIN = "The answer broke off and is being requested again."
STAGES = {"routing": "Finding the agent", "completing": "Completing"}
RESETS = {
    "worker lost": "",  # a row of the history says so
    "It was the model's thinking": "",  # it appears there
    "handed over": "Handed over: another worker continues from the last saved step.",
}


class LiveTurn:
    """Reduces events to rows, and to the kinds of the messages being written, by id."""

    def __init__(
        self,
        turn: Turn,
        rows: Iterable[DisplayMessage],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.turn = turn
        self._clock = clock
        self.partial: dict[UUID, ContentType] = {}
        self.notice = ""
        self._wait: tuple[float, str] | None = None
        self._tools_say: dict[str, str] = {}
        self._stage = ""
        self.is_finished = False
        self._rows = {row.position: row for row in rows}
        self._stored_ids = {row.id for row in self._rows.values()}
        self._in_order: list[DisplayMessage] | None = None
        self._blocks: list[Block] = []
        self._step = 1
        self._take_wait(turn)

    def store(self, turn: Turn, rows: Iterable[DisplayMessage]) -> list[UUID]:
        """Take the stored state, for when events are missing although the turn goes on.

        Return the ids of the rows that no event had reported.
        """
        if turn.status is not self.turn.status or turn.attempts != self.turn.attempts:
            self.partial.clear()
        self.turn = turn
        self._take_wait(turn)
        stored: list[UUID] = []
        for row in rows:
            known = self._rows.get(row.position)
            if known is None or _PROGRESS[row.status] > _PROGRESS[known.status]:
                self._put(row, is_added=known is None)
                stored.append(row.id)
        return stored

    def is_stored(self, message_id: UUID) -> bool:
        """Return whether this message is a row already; anything streamed of it is a repetition."""
        return message_id in self._stored_ids

    @property
    def blocks(self) -> list[Block]:
        """The turn's rows in order, without the person's message."""
        self._refresh()
        return self._blocks

    @property
    def waits_for(self) -> list[DisplayMessage]:
        """The approvals that must be decided before the turn goes on."""
        if self.turn.status is not TurnStatus.WAITING:
            return []
        return [block.asked or block.row for block in self.blocks if block.waits]

    @property
    def activity(self) -> str:
        """What the turn is doing, in a word or two."""
        if self.turn.status is TurnStatus.QUEUED:
            return queue_words(self.turn.queue_position)
        if self.turn.status is TurnStatus.WAITING:
            if self.waits_for:
                return waiting_words(len(self.waits_for))
            return ON_TASKS if self._waits_for_tasks else "Continuing"
        if self.turn.stop_requested:
            return "Stopping"
        if self._wait:
            return wait_words(self.wait_seconds, self._wait[1])
        if self._stage:
            return self._stage
        running = [block.row for block in self.blocks if _is_running(block)]
        if running:
            if str(running[-1].content.get("name")) in PLAN_TOOLS:
                return ON_TASKS
            call = running[-1].content
            progress = self._tools_say.get(str(call.get("call_id")))
            return f"Running {call.get('name', 'a tool')}" + (f": {progress}" if progress else "")
        if self.turn.route and self.turn.route.reason is RouteReason.PENDING:
            return STAGES["routing"]
        return "Writing" if ContentType.TEXT in self.partial.values() else "Thinking"

    @property
    def wait_seconds(self) -> float:
        """For how much longer the turn waits for the model's provider; 0 if it does not."""
        if self._wait is None or self.turn.stop_requested:
            return 0
        return max(self._wait[0] - self._clock(), 0)

    @property
    def _waits_for_tasks(self) -> bool:
        return self.turn.waits_for is WaitsFor.TASKS

    @property
    def step(self) -> int:
        """The number of the running step: a model message, or a batch of tool results."""
        self._refresh()
        return self._step

    def _refresh(self) -> None:
        """Rebuild blocks and count steps when a row has changed, not for each piece of text."""
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

    def apply(self, event: SessionEvent) -> None:
        """Apply an event of this turn."""
        if isinstance(event, Progress):
            self._progress(event)
            return
        self._wait, self._stage = None, ""
        match event:
            case TextDelta() | ThinkingDelta():
                self._add_delta(event)
            case Reset():
                self._reset(event)
            case MessageAdded() | MessageUpdated():
                self._put(event.message, is_added=isinstance(event, MessageAdded))
            case TurnStarted():
                # A new attempt restarts the step; text of the lost attempt is not stored.
                self.turn = event.turn
                self.partial.clear()
            case TurnFinished() | Interrupt():
                self.turn = event.turn
                self.is_finished = isinstance(event, TurnFinished)

    def _add_delta(self, event: TextDelta | ThinkingDelta) -> None:
        if event.message_id in self._stored_ids:
            return  # a stream that is read again repeats what is stored
        is_text = isinstance(event, TextDelta)
        self.partial[event.message_id] = ContentType.TEXT if is_text else ContentType.THINKING

    def _progress(self, event: Progress) -> None:
        if event.state == "waiting_for_model":
            self._wait = (self._clock() + (event.seconds or 0), event.reason or "")
        elif event.state == "running_tool":
            self._tools_say[event.call_id or ""] = event.text or ""
        elif event.state in STAGES:
            self._stage = STAGES[event.state]
        elif event.state == "stopping":
            self.turn = self.turn.model_copy(update={"stop_requested": True})

    def _take_wait(self, turn: Turn) -> None:
        if turn.model_wait:
            self._wait = (self._clock() + turn.model_wait.seconds, turn.model_wait.reason)

    def _reset(self, event: Reset) -> None:
        """Void one message, or all that are not stored."""
        if event.message_id is None:
            self.partial.clear()
        else:
            self.partial.pop(event.message_id, None)
        reason = event.reason.rstrip(".")
        self.notice = RESETS.get(reason, f"{ASKED_AGAIN} {reason}." if reason else ASKED_AGAIN)

    def _put(self, row: DisplayMessage, *, is_added: bool) -> None:
        known = self._rows.get(row.position)
        if known is None or _PROGRESS[row.status] >= _PROGRESS[known.status]:
            self._rows[row.position] = row
            self._in_order = None
        self._stored_ids.add(row.id)
        self.partial.pop(row.id, None)
        if is_added and row.message_type is MessageType.ASSISTANT:
            self.notice = ""


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
