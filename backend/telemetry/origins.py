"""Where work comes from: what leads from a turn back to the request that accepted it."""

from collections.abc import Mapping
from typing import Any

from backend.logs.fields import request_id
from backend.telemetry import tracing

ID, TRACEPARENT = "id", "traceparent"


def origin() -> dict[str, Any] | None:
    """Return what is to be kept with work that begins here; None if nothing is known of it."""
    found = {ID: request_id(), TRACEPARENT: tracing.here()}
    return {name: value for name, value in found.items() if value} or None


def request_of(kept: Mapping[str, Any] | None) -> str | None:
    """Return the id of the request that work came from."""
    return kept.get(ID) if kept else None


def trace_of(kept: Mapping[str, Any] | None) -> Mapping[str, str]:
    """Return the header that names the trace of the request that work came from."""
    found = kept.get(TRACEPARENT) if kept else None
    return {TRACEPARENT: found} if found else {}
