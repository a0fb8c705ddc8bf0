"""API calls of the page Audit."""

from datetime import datetime

from backend.schemas.operations.audit import AuditKinds, AuditPage
from ui.client import Client

PAGE_ROWS = 50

Wanted = dict[str, str | datetime | None]


def list_events(client: Client, wanted: Wanted, cursor: str | None) -> AuditPage:
    """Return a page of the audit trail, newest first."""
    return client.get(AuditPage, "audit", **params(wanted), cursor=cursor, limit=PAGE_ROWS)


def list_kinds(client: Client) -> AuditKinds:
    """Return the actions and subjects to filter by."""
    return client.get(AuditKinds, "audit/kinds")


def params(wanted: Wanted) -> dict[str, str | None]:
    """Return the parameters of the API's lists."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in wanted.items()
    }
