"""Where work comes from: what leads from a turn back to the request that accepted it."""

from typing import Any

from backend.logs.fields import request_id

ID = "id"


def origin() -> dict[str, Any] | None:
    """Return what is to be kept with work that begins here; None if no request has caused it."""
    found = request_id()
    return {ID: found} if found else None


def request_of(kept: dict[str, Any] | None) -> str | None:
    """Return the id of the request that work came from."""
    return kept.get(ID) if kept else None
