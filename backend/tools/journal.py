"""The record of a turn's tool calls across attempts, so that none runs twice.

While a tool whose effect is idempotent runs, `IDEMPOTENCY_KEY` holds the call's key: the same in
every attempt. A built-in tool reads it and passes it to the system that it writes to; a tool of an
MCP server gets it as the call's `_meta: {"idempotency_key": ...}`.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol
from uuid import NAMESPACE_OID, UUID, uuid5

from backend.tools.registry import Effect
from backend.types import JSON

IDEMPOTENCY_KEY: ContextVar[str | None] = ContextVar("idempotency_key", default=None)


@dataclass(frozen=True)
class CallKey:
    """A call's place: the model message and its number there. Call ids are not unique."""

    message_id: str
    number: int

    def idempotency_key(self, turn_id: UUID) -> str:
        """Return the key that an idempotent tool gets: the same in every attempt."""
        return str(uuid5(NAMESPACE_OID, f"{turn_id} {self.message_id} {self.number}"))


@dataclass(frozen=True)
class Recorded:
    """What an earlier attempt recorded of a call; without a message, its outcome is unknown."""

    message: JSON | None
    artifact: JSON | None = None


class ToolJournal(Protocol):
    """Written around each tool call: started before it runs, finished with its result after."""

    def recorded(self, key: CallKey) -> Recorded | None:
        """Return what earlier attempts recorded of this call; None when it never began."""

    async def started(self, key: CallKey, name: str, effect: Effect) -> None:
        """Record that the tool is about to run. Raise LeaseLost when this attempt may not."""

    async def finished(
        self, key: CallKey, name: str, effect: Effect, message: JSON, artifact: JSON | None
    ) -> None:
        """Record the result. Raise LeaseLost when this attempt may not."""


class NoJournal:
    """For runs that are never restored, such as tests of an agent alone."""

    def recorded(self, key: CallKey) -> Recorded | None:
        """Return None: nothing is recorded."""

    async def started(self, key: CallKey, name: str, effect: Effect) -> None:
        """Record nothing."""

    async def finished(
        self, key: CallKey, name: str, effect: Effect, message: JSON, artifact: JSON | None
    ) -> None:
        """Record nothing."""
