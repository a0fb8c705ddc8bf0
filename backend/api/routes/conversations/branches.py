"""Branches: the versions of edited and retried messages, and which of them is shown."""

from uuid import UUID

from fastapi import APIRouter

from backend.api.dependencies import AskScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent
from backend.schemas.conversations.branches import BranchChoice, Branches
from backend.turns.history import branches as branching

router = APIRouter(prefix="/sessions", tags=["sessions"])


@router.get("/{session_id}/branches")
def get_branches(session_id: UUID, services: ServicesDep, scope: ReadScope) -> Branches:
    """The versions of each message that was edited or answered again, in order."""
    with services.database.read() as session:
        return branching.list_branches(session, scope, session_id)


@router.post("/{session_id}/branch")
def switch_branch(
    session_id: UUID, body: Sent[BranchChoice], services: ServicesDep, scope: AskScope
) -> Branches:
    """Show a branch that contains this turn; of several, the one shown most recently."""
    branching.switch(services.database, scope, session_id, body.turn_id)
    with services.database.read() as session:
        return branching.list_branches(session, scope, session_id)
