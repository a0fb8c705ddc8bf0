"""API calls of the page Import: what was found in uploads, and their imports."""

from uuid import UUID

from backend.schemas.imports import Import, ImportPage
from ui.client import Client


def list_imports(client: Client, cursor: str | None) -> ImportPage:
    """Return a page of the caller's imports, newest first."""
    return client.get(ImportPage, "imports", cursor=cursor, limit=10)


def start(client: Client, import_id: UUID, domain: str | None) -> Import:
    """Have a worker import what was inspected."""
    return client.call(Import, "POST", f"imports/{import_id}/start", json={"domain": domain})


def cancel(client: Client, import_id: UUID) -> Import:
    """End an import; what it has stored stays."""
    return client.call(Import, "POST", f"imports/{import_id}/cancel")
