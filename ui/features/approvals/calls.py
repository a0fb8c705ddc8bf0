"""API calls of the inbox and of approval cards."""

from urllib.parse import quote
from uuid import UUID

from backend.schemas.approvals import AllowedTools, Approval, ApprovalPage, Decision
from ui.client import Client


def list_pending(client: Client, *, cursor: str | None, everyone: bool, limit: int) -> ApprovalPage:
    """Return a page of the waiting calls, oldest first; `everyone` is for administrators."""
    whose = "all" if everyone else None
    return client.get(ApprovalPage, "approvals", limit=limit, cursor=cursor, scope=whose)


def get_approval(client: Client, approval_id: UUID) -> Approval:
    """Return one call that waits, or has waited, for a decision."""
    return client.get(Approval, f"approvals/{approval_id}")


def decide_call(client: Client, approval_id: UUID, decision: Decision) -> Approval:
    """Decide on one call; repeating the same decision returns the same result."""
    body = decision.model_dump(mode="json", exclude_defaults=True)
    return client.call(Approval, "POST", f"approvals/{approval_id}/decision", json=body)


def get_allowed_tools(client: Client, session_id: UUID) -> list[str]:
    """Return the tools that no longer ask in a session."""
    return client.get(AllowedTools, f"sessions/{session_id}/allowed_tools").allowed_tools


def ask_again(client: Client, session_id: UUID, tool: str) -> None:
    """Make a tool ask again in a session, from its next turn on."""
    client.send("DELETE", f"sessions/{session_id}/allowed_tools/{quote(tool, safe='')}")
