"""The part of the fake API that knows of tool servers and versions of their tools."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from backend.schemas.conversations.sessions import Problem
from backend.schemas.domains.servers import (
    ServerReport,
    ServersReport,
    ToolVersion,
    ToolVersionDecision,
    ToolVersionPage,
    VersionStatus,
)


@dataclass
class FakeServers:
    reports: list[ServerReport] = field(default_factory=list)
    versions: list[ToolVersion] = field(default_factory=list)
    refusal: Problem | None = None

    def page(self) -> ToolVersionPage:
        pending = sum(one.status is VersionStatus.PENDING for one in self.versions)
        decided = len(self.versions) - pending
        return ToolVersionPage(items=self.versions, pending=pending, decided=decided)


def add_server_routes(app: FastAPI, servers: FakeServers) -> None:
    path = "/api/v1/domains/{domain_id}"

    @app.get(f"{path}/servers")
    def check_servers(domain_id: UUID) -> Any:
        if servers.refusal:
            return JSONResponse(servers.refusal.model_dump(), servers.refusal.status)
        return ServersReport(worker="desk-1", items=servers.reports)

    @app.get(f"{path}/tool-versions")
    def tool_versions(domain_id: UUID) -> ToolVersionPage:
        return servers.page()

    @app.patch(f"{path}/tool-versions/{{version_id}}")
    def decide(domain_id: UUID, version_id: UUID, body: ToolVersionDecision) -> ToolVersionPage:
        (version,) = [one for one in servers.versions if one.id == version_id]
        version.status = VersionStatus(body.status)
        version.decided_by, version.decided_at = "local", datetime.now(UTC)
        return servers.page()
