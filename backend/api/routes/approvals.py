"""Approvals: calls that wait for a person, in all sessions, and decisions on them."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query

from backend.api.dependencies import AskScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Text, Whole
from backend.api.http.threads import large
from backend.approvals.allowed_tools import forbid_tool, list_allowed
from backend.approvals.inbox import count_pending, find_approval, list_approvals
from backend.schemas.approvals import (
    AllowedTools,
    Approval,
    ApprovalCount,
    ApprovalPage,
    ApprovalStatus,
    Decision,
)
from backend.schemas.ids import SessionId
from backend.turns.control.decide import decide_call

router = APIRouter(tags=["approvals"])
Whose = Annotated[Literal["mine", "all"], Query(alias="scope", description="`all` is for admins.")]


@router.get("/approvals")
@large
def get_approvals(
    services: ServicesDep,
    scope: ReadScope,
    status: Literal["pending", "decided", "expired", "withdrawn", "all"] = "pending",
    limit: Annotated[Whole, Query(ge=1, le=200)] = 50,
    cursor: Text | None = None,
    everyone: Whose = "mine",
) -> ApprovalPage:
    """One page of approvals: pending ones oldest first, others newest first."""
    wanted = None if status == "all" else ApprovalStatus(status)
    with services.database.read() as session:
        return list_approvals(
            session, scope, wanted, everyone=everyone == "all", cursor=cursor, limit=limit
        )


@router.get("/approvals/count")
def get_count(services: ServicesDep, scope: ReadScope, everyone: Whose = "mine") -> ApprovalCount:
    """How many calls wait for a decision."""
    with services.database.read() as session:
        return ApprovalCount(pending=count_pending(session, scope, everyone=everyone == "all"))


@router.get("/approvals/{approval_id}")
def get_approval(approval_id: UUID, services: ServicesDep, scope: ReadScope) -> Approval:
    """One approval."""
    with services.database.read() as session:
        return find_approval(session, scope, approval_id)


@router.post("/approvals/{approval_id}/decision")
def decide(approval_id: UUID, body: Decision, services: ServicesDep, scope: AskScope) -> Approval:
    """Decide on one call; its turn resumes once nothing else is pending.

    Repeating a decision returns the same answer; a different one is refused with 409, which says
    who decided.
    """
    return decide_call(services, scope, approval_id, body)


@router.get("/sessions/{session_id}/allowed_tools")
def get_allowed_tools(
    session_id: SessionId, services: ServicesDep, scope: ReadScope
) -> AllowedTools:
    """The tools that need no further approval in this session, because a person allowed them."""
    with services.database.read() as session:
        return AllowedTools(allowed_tools=list_allowed(session, scope, session_id))


@router.delete("/sessions/{session_id}/allowed_tools/{tool}")
def remove_allowed_tool(
    session_id: SessionId, tool: Text, services: ServicesDep, scope: AskScope
) -> AllowedTools:
    """Require approval for a tool again, from the next turn on; returns the remaining tools."""
    with services.database.transaction() as session:
        return AllowedTools(allowed_tools=forbid_tool(session, scope, session_id, tool))
