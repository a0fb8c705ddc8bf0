"""What a team's turn leaves besides its messages: its payload, artifacts and route."""

from typing import Any

from sqlalchemy import null
from sqlalchemy.orm import Session

from backend.agents.team.marks import response_in
from backend.agents.team.payload import PAYLOAD
from backend.artifacts import messages as artifacts
from backend.conversations import display, views
from backend.conversations.state.store import StoredState
from backend.errors.artifacts import ArtifactRefused
from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.conversations.turns import TurnStatus
from backend.types import JSON
from colloquy_kit.messages.display import notice
from db.models.turns.turn import TurnRow


def keep_results(
    session: Session, turn: TurnRow, status: TurnStatus, stored: StoredState | None
) -> list[DisplayMessage]:
    """Link a turn's artifacts to its last message; return the row of a new payload.

    Only a complete answer makes an artifact of the payload. One that is refused is told instead.
    """
    if turn.route is None or stored is None or not stored.state["messages"]:
        return []
    message_id = str(stored.state["messages"][-1].get("id", ""))
    artifacts.link_to_message(session, turn.id, message_id)
    payload: JSON = stored.state.get(PAYLOAD) or {}
    if status is not TurnStatus.SUCCEEDED or not payload:
        return []
    at = turn.conversation_id
    try:
        kept = artifacts.save_payload(session, at, turn.id, turn.agent, message_id, payload)
    except ArtifactRefused as error:
        words = f"What the team noted was not kept as an artifact. {error.detail}"
        change = views.Change(drafts=[notice(words)])
        return views.append(session, at, turn.id, change).added
    if kept is None:
        return []
    artifact = {
        "artifact_id": str(kept[0]),
        "version": kept[1],
        "kind": "json",
        "title": artifacts.PAYLOAD,
    }
    change = views.Change(drafts=[display.artifact_made(artifact, turn.agent)])
    return views.append(session, at, turn.id, change).added


def route_at_end(turn: TurnRow, stored: StoredState | None) -> Any:
    """Return the turn's route, marked if the manager had nothing to say."""
    if turn.route is None:
        return null()
    messages = stored.state["messages"] if stored else []
    observed = bool(messages) and bool(response_in(messages[-1]).get("observed"))
    return {**turn.route, "observed": observed}
