"""What a tool may use: the sources, and whose turn it is working for."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from backend.auth.scope import Scope
from backend.data.sources import Sources

OnProgress = Callable[[str, str], None]  # of which call, what its tool says
CALL_ID: ContextVar[str] = ContextVar("call_id", default="")  # of the call that runs


def _tell_nobody(call_id: str, said: str) -> None:
    pass


@dataclass(frozen=True)
class ToolContext:
    """The surroundings of one turn's tools."""

    sources: Sources
    conversation_id: UUID
    turn_id: UUID
    scope: Scope
    on_progress: OnProgress = _tell_nobody

    @property
    def asker(self) -> str:
        """Who asks the sources, for those who divide what can run at once."""
        return str(self.conversation_id)
