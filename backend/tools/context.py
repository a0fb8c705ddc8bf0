"""What a tool may use: the sources, and whose turn it is working for."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from backend.artifacts.service import Artifacts
from backend.auth.scope import Scope
from backend.data.sources import Sources
from backend.tools.plans import CallPlace, Plans
from backend.tools.session_files import SessionFiles

OnProgress = Callable[[str, str], None]  # of which call, what its tool says
CALL_ID: ContextVar[str] = ContextVar("call_id", default="")  # of the call that runs
CALL_PLACE: ContextVar[CallPlace] = ContextVar("call_place")  # likewise


def _tell_nobody(call_id: str, said: str) -> None:
    pass


@dataclass(frozen=True)
class ToolContext:
    """The surroundings of one turn's tools.

    `makes_artifacts`: in a domain with a manager, or where an agent names a tool of artifacts.
    """

    sources: Sources
    conversation_id: UUID
    turn_id: UUID
    scope: Scope
    on_progress: OnProgress = _tell_nobody
    plans: Plans | None = None  # of a turn that may start some
    artifacts: Artifacts | None = None
    session_files: SessionFiles | None = None  # where artifacts are made
    agent: str | None = None
    makes_artifacts: bool = False

    @property
    def asker(self) -> str:
        """Who asks the sources, for those who divide what can run at once."""
        return str(self.conversation_id)
