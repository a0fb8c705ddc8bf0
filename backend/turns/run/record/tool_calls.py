"""The tool calls of a running turn on screen: which are open, since when, and how they end."""

import time

from backend.agents.steps.events import StepFinished
from backend.conversations.display import CallMove
from backend.schemas.conversations.sessions import DisplayMessage
from colloquy_kit.messages.display import call_status
from colloquy_kit.messages.kinds import OPEN_STATUSES, ContentType


class OpenCalls:
    """The running tool calls: their display messages, and when they started."""

    def __init__(self) -> None:
        self._rows: list[DisplayMessage] = []
        self._since = time.monotonic()
        self._seconds: list[tuple[str | None, float]] = []

    def opened(self, rows: list[DisplayMessage]) -> None:
        """Add the calls among a saved step's rows: they run from now on."""
        calls = [
            row
            for row in rows
            if row.content_type is ContentType.TOOL_CALL and row.status in OPEN_STATUSES
        ]
        if calls:
            self._rows, self._since, self._seconds = calls, time.monotonic(), []

    def ended(self, call_id: str | None) -> None:
        """Record how long a call took; its row is updated when its batch is saved."""
        self._seconds.append((call_id, time.monotonic() - self._since))

    def moves_of(self, step: StepFinished) -> list[CallMove]:
        """Return how the calls that this step answers end; ids may repeat, so order decides.

        Changes nothing here: a step whose commit was lost is written a second time.
        """
        moves, rows = [], list(self._rows)
        for message in step.messages:
            call_id = message.get("tool_call_id")
            row = next((r for r in rows if r.content["call_id"] == call_id), None)
            if message["role"] != "tool" or row is None:
                continue
            rows.remove(row)
            seconds = next((s for ended, s in self._seconds if ended == call_id), None)
            metadata = {} if seconds is None else {"seconds": round(seconds, 3)}
            status = call_status(message)
            moves.append(CallMove(row.position, status, metadata))
        return moves
