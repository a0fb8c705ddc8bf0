"""Calls of the inbox, and of the cards that ask for a decision."""

from urllib.parse import quote
from uuid import UUID

from backend.schemas.approvals import AllowedTools, Approval, ApprovalPage, Decision
from ui.client import Client


def list_pending(client: Client, *, cursor: str | None, everyone: bool, limit: int) -> ApprovalPage:
    """Return one page of the calls that wait, oldest first; `everyone` is for administrators."""
    whose = "all" if everyone else None
    return client.get(ApprovalPage, "approvals", limit=limit, cursor=cursor, scope=whose)


def get_approval(client: Client, approval_id: UUID) -> Approval:
    """Return one call that waits, or has waited, for a person."""
    return client.get(Approval, f"approvals/{approval_id}")


def decide_call(client: Client, approval_id: UUID, decision: Decision) -> Approval:
    """Decide on one call; the same decision again gives the same answer."""
    body = decision.model_dump(mode="json", exclude_defaults=True)
    return client.call(Approval, "POST", f"approvals/{approval_id}/decision", json=body)


def get_allowed_tools(client: Client, session_id: UUID) -> list[str]:
    """Return the tools that ask no more in a session."""
    return client.get(AllowedTools, f"sessions/{session_id}/allowed_tools").allowed_tools


def ask_again(client: Client, session_id: UUID, tool: str) -> None:
    """Let a tool ask again in a session, from its next turn on."""
    client.send("DELETE", f"sessions/{session_id}/allowed_tools/{quote(tool, safe='')}")
