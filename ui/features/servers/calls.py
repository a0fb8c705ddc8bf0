"""API calls of the tool servers page."""

from uuid import UUID

from backend.schemas.domains.servers import (
    ServersReport,
    ToolVersionDecision,
    ToolVersionPage,
)
from ui.client import Client


def check_servers(client: Client, domain_id: UUID) -> ServersReport:
    """Return the current state of a domain's servers; may take as long as the slowest server."""
    return client.get(ServersReport, f"domains/{domain_id}/servers")


def list_versions(client: Client, domain_id: UUID) -> ToolVersionPage:
    """Return the versions of the tools of a domain's servers."""
    return client.get(ToolVersionPage, f"domains/{domain_id}/tool-versions")


def decide_version(
    client: Client, domain_id: UUID, version_id: UUID, *, is_accepted: bool
) -> ToolVersionPage:
    """Accept a tool in this version, or refuse it."""
    decision = ToolVersionDecision(status="accepted" if is_accepted else "refused")
    body = decision.model_dump(mode="json")
    path = f"domains/{domain_id}/tool-versions/{version_id}"
    return client.call(ToolVersionPage, "PATCH", path, json=body)
