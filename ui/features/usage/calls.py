"""API calls for usage."""

from collections.abc import Iterable
from uuid import UUID

from backend.schemas.usage import SessionUsage, TurnFigures, TurnFiguresList, UsageBy, UsageReport
from ui.client import Client


def get_usage(client: Client, days: int, by: UsageBy) -> UsageReport:
    """Return the usage of the last days."""
    return client.get(UsageReport, "usage", days=days, by=by.value)


def get_session_usage(client: Client, session_id: UUID) -> SessionUsage:
    """Return a session's usage, and the state of its budgets."""
    return client.get(SessionUsage, f"sessions/{session_id}/usage")


def get_turn_figures(
    client: Client, session_id: UUID, turn_ids: Iterable[UUID]
) -> dict[UUID, TurnFigures]:
    """Return the usage of finished turns, by turn id."""
    ids = ",".join(sorted(map(str, turn_ids)))
    found = client.get(TurnFiguresList, f"sessions/{session_id}/usage/turns", ids=ids)
    return {one.turn_id: one for one in found.items}
