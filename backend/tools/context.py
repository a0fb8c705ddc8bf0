"""What a tool may use: the sources, and the turn that it works for."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from backend.artifacts.service import Artifacts
from backend.auth.rights import Rights
from backend.auth.scope import Scope
from backend.data.sources import Sources
from backend.tools.asker import Asker, KnownAsker
from backend.tools.plans import CallReference, Plans
from backend.tools.session_files import SessionFiles

OnProgress = Callable[[str, str], None]  # the call's id, and its tool's progress
CALL_ID: ContextVar[str] = ContextVar("call_id", default="")  # of the running call
CALL_PLACE: ContextVar[CallReference] = ContextVar("call_place")  # likewise


def _tell_nobody(call_id: str, text: str) -> None:
    pass


@dataclass(frozen=True)
class ToolContext:
    """The context of one turn's tools.

    `has_documents`: whether any of the turn's sources is a document. `makes_artifacts`: in a domain
    with a manager, so also in tasks, or where an agent names a tool of artifacts.
    """

    sources: Sources
    conversation_id: UUID
    turn_id: UUID
    scope: Scope
    on_progress: OnProgress = _tell_nobody
    plans: Plans | None = None  # if the turn may start some
    artifacts: Artifacts | None = None
    session_files: SessionFiles | None = None  # where artifacts are made
    agent: str | None = None
    has_documents: bool = False
    makes_artifacts: bool = False
    asking: Asker | None = None  # who asked, where their rights may change meanwhile

    @property
    def person(self) -> Asker:
        """Return who asked, and what they may do."""
        return self.asking or KnownAsker(Rights(self.scope))

    @property
    def reader(self) -> Scope:
        """Return the scope to read with: of who asked, as it was when the call began."""
        return self.person.rights().scope

    @property
    def asker(self) -> str:
        """Return for whom the sandbox works, for dividing its slots fairly among people."""
        return self.scope.user_id
