"""Calls of the page of tool servers."""

from uuid import UUID

from backend.schemas.domains.servers import (
    ServersReport,
    ToolVersionDecision,
    ToolVersionPage,
)
from ui.client import Client


def check_servers(client: Client, domain_id: UUID) -> ServersReport:
    """A domain's servers as a worker finds them just now; takes as long as the slowest may."""
    return client.get(ServersReport, f"domains/{domain_id}/servers")


def list_versions(client: Client, domain_id: UUID) -> ToolVersionPage:
    """Return what a domain's servers have said of their tools."""
    return client.get(ToolVersionPage, f"domains/{domain_id}/tool-versions")


def decide_version(
    client: Client, domain_id: UUID, version_id: UUID, *, is_accepted: bool
) -> ToolVersionPage:
    """Accept a tool in this version, or refuse it."""
    decision = ToolVersionDecision(status="accepted" if is_accepted else "refused")
    body = decision.model_dump(mode="json")
    path = f"domains/{domain_id}/tool-versions/{version_id}"
    return client.call(ToolVersionPage, "PATCH", path, json=body)
