"""API calls of the page Import: uploads, what was found in them, and their imports."""

from typing import BinaryIO
from uuid import UUID

import httpx

from backend.schemas.imports import Import, ImportPage
from ui.client import Client

UPLOADING = httpx.Timeout(600.0, connect=3.0)  # the whole upload is read before the answer


def upload(client: Client, name: str, content: BinaryIO) -> Import:
    """Upload an export; return what was found in it."""
    file = (name, content, "application/octet-stream")
    return client.call(Import, "POST", "imports", files={"file": file}, timeout=UPLOADING)


def list_imports(client: Client, cursor: str | None) -> ImportPage:
    """Return a page of the caller's imports, newest first."""
    return client.get(ImportPage, "imports", cursor=cursor, limit=10)


def start(client: Client, import_id: UUID, domain: str | None) -> Import:
    """Have a worker import what was inspected."""
    return client.call(Import, "POST", f"imports/{import_id}/start", json={"domain": domain})


def cancel(client: Client, import_id: UUID) -> Import:
    """End an import; what it has stored stays."""
    return client.call(Import, "POST", f"imports/{import_id}/cancel")
