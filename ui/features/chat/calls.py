"""API calls for branches: edit a message, get another answer, show another version."""

from uuid import UUID

from backend.schemas.conversations.branches import BranchChoice, Branches, MessageEdit
from ui.client import Client


def branches(client: Client, session_id: UUID) -> Branches:
    """Return the versions of each message that has more than one."""
    return client.get(Branches, f"sessions/{session_id}/branches")


def switch_branch(client: Client, session_id: UUID, turn_id: UUID) -> None:
    """Make the branch with this turn the active one."""
    body = BranchChoice(turn_id=turn_id).model_dump(mode="json", exclude_none=True)
    client.send("POST", f"sessions/{session_id}/branch", json=body)


def show_branch(client: Client, session_id: UUID, branch: int) -> None:
    """Make the branch with this number the active one."""
    body = BranchChoice(branch=branch).model_dump(mode="json", exclude_none=True)
    client.send("POST", f"sessions/{session_id}/branch", json=body)


def edit_message(client: Client, turn_id: UUID, text: str, key: str) -> None:
    """Replace a turn's message with this text; the same `key` and text start only one turn."""
    body = MessageEdit(message=text, agent=None).model_dump(mode="json", exclude_none=True)
    headers = {"Idempotency-Key": key}
    client.send("POST", f"turns/{turn_id}/edit", json=body, headers=headers)


def another_answer(client: Client, turn_id: UUID, key: str) -> None:
    """Ask a turn's message again; the same `key` starts only one turn."""
    client.send("POST", f"turns/{turn_id}/retry", headers={"Idempotency-Key": key})
