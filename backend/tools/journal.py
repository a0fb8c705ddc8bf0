"""What is known of a turn's tool calls across attempts, so that none runs twice.

While a tool runs whose effect is idempotent, `IDEMPOTENCY_KEY` holds the call's key: the same at
every attempt. A built-in tool reads it there and hands it to the system it writes to; a tool of an
MCP server gets it as `_meta: {"idempotency_key": ...}` of the call.
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
        """The key that an idempotent tool gets: the same at every attempt."""
        return str(uuid5(NAMESPACE_OID, f"{turn_id} {self.message_id} {self.number}"))


@dataclass(frozen=True)
class Recorded:
    """What an earlier attempt has left of a call; without a message, its outcome is unknown."""

    message: JSON | None
    artifact: JSON | None = None


class ToolJournal(Protocol):
    """Written from inside a tool call: started before it runs, finished with its result after."""

    def recorded(self, key: CallKey) -> Recorded | None:
        """What earlier attempts have left of this call; None when it never began."""

    async def started(self, key: CallKey, name: str, effect: Effect) -> None:
        """Record that the tool is about to run. Raises LeaseLost when this attempt may not."""

    async def finished(
        self, key: CallKey, name: str, effect: Effect, message: JSON, artifact: JSON | None
    ) -> None:
        """Record the result. Raises LeaseLost when this attempt may not."""


class NoJournal:
    """For runs that nobody restores, such as tests of an agent alone."""

    def recorded(self, key: CallKey) -> Recorded | None:
        """Nothing is known."""

    async def started(self, key: CallKey, name: str, effect: Effect) -> None:
        """Record nothing."""

    async def finished(
        self, key: CallKey, name: str, effect: Effect, message: JSON, artifact: JSON | None
    ) -> None:
        """Record nothing."""
