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
