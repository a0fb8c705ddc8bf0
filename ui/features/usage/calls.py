"""Calls about usage."""

from uuid import UUID

from backend.schemas.usage import SessionUsage, UsageBy, UsageReport
from ui.client import Client


def get_usage(client: Client, days: int, by: UsageBy) -> UsageReport:
    """Return what was used on the last days."""
    return client.get(UsageReport, "usage", days=days, by=by.value)


def get_session_usage(client: Client, session_id: UUID) -> SessionUsage:
    """Return what a session has used, and what is left of its budgets."""
    return client.get(SessionUsage, f"sessions/{session_id}/usage")
