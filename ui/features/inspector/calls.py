"""API calls of the inspector."""

from uuid import UUID

from backend.schemas.inspection import Inspection, ModelCallDetails, ModelCallPage
from ui.client import Client


def get_inspection(client: Client, session_id: UUID, before: int | None, limit: int) -> Inspection:
    """Return a page of the history with what the model reads next."""
    path = f"sessions/{session_id}/inspection"
    return client.get(Inspection, path, before=before, limit=limit)


def list_model_calls(
    client: Client, session_id: UUID, before: int | None, limit: int
) -> ModelCallPage:
    """Return a page of the requests sent to models, newest first."""
    path = f"sessions/{session_id}/calls"
    return client.get(ModelCallPage, path, before=before, limit=limit)


def get_model_call(client: Client, session_id: UUID, version: int, number: int) -> ModelCallDetails:
    """Return exactly what a model was sent."""
    return client.get(ModelCallDetails, f"sessions/{session_id}/calls/{version}/{number}")
