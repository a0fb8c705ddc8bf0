"""Branches: versions of messages, which of them is shown, and beginning anew on an empty one."""

from fastapi import APIRouter

from backend.api.dependencies import AskScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent
from backend.schemas.conversations.branches import BranchChoice, Branches
from backend.schemas.ids import SessionId
from backend.turns.history import branches as branching

router = APIRouter(prefix="/sessions", tags=["sessions"])


@router.get("/{session_id}/branches")
def get_branches(session_id: SessionId, services: ServicesDep, scope: ReadScope) -> Branches:
    """The versions of each message that was edited or answered again, in order."""
    with services.database.read() as session:
        return branching.list_branches(session, scope, session_id)


@router.post("/{session_id}/branch")
def switch_branch(
    session_id: SessionId, body: Sent[BranchChoice], services: ServicesDep, scope: AskScope
) -> Branches:
    """Show a branch that contains this turn, of several the one shown last; or one by number."""
    branching.switch(services.database, scope, session_id, body)
    with services.database.read() as session:
        return branching.list_branches(session, scope, session_id)


@router.post("/{session_id}/clear")
def clear_session(session_id: SessionId, services: ServicesDep, scope: AskScope) -> Branches:
    """Begin anew on an empty branch: the agent remembers nothing, files and artifacts stay.

    Nothing is deleted: `POST …/branch` shows the earlier branch again. One that is empty already
    stays as it is. 409 while a turn runs or waits.
    """
    branching.clear(services.database, scope, session_id)
    with services.database.read() as session:
        return branching.list_branches(session, scope, session_id)
