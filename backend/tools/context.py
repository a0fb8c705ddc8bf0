"""What a tool may use: the sources, and whose turn it is working for."""

from dataclasses import dataclass
from uuid import UUID

from backend.auth.scope import Scope
from backend.data.sources import Sources


@dataclass(frozen=True)
class ToolContext:
    """The surroundings of one turn's tools."""

    sources: Sources
    conversation_id: UUID
    turn_id: UUID
    scope: Scope

    @property
    def asker(self) -> str:
        """Who asks the sources, for those who divide what can run at once."""
        return str(self.conversation_id)
