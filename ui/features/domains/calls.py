"""Calls of the pages about domains and configurations."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from backend.schemas.conversations.sessions import Session
from backend.schemas.data.sources import SourceList
from backend.schemas.domains.configuration import (
    Catalog,
    DomainVersion,
    DomainVersionPage,
    Drift,
    TemplateCheck,
)
from backend.schemas.domains.dry_runs import FirstRequest
from backend.schemas.domains.servers import ServersReport
from backend.schemas.domains.templates import Domain, DomainPage
from ui.client import Client

MAX_LISTED = 200


def list_domains(
    client: Client,
    *,
    archived: bool | None = None,
    counted: bool = False,
    cursor: str | None = None,
) -> DomainPage:
    """Return a page of domains by name; `counted`: with how many sessions each has."""
    return client.get(
        DomainPage,
        "domains",
        limit=MAX_LISTED,
        cursor=cursor,
        archived=archived,
        counted=counted or None,
    )


def get_domain(client: Client, domain_id: UUID) -> Domain:
    """Return one domain."""
    return client.get(Domain, f"domains/{domain_id}")


def get_catalog(client: Client) -> Catalog:
    """Return what a domain may name."""
    return client.get(Catalog, "catalog")


def list_source_names(client: Client) -> list[str]:
    """Return the names of the sources that tools can ask."""
    return [source.name for source in client.get(SourceList, "sources").items]


def check_template(client: Client, body: Mapping[str, Any]) -> TemplateCheck:
    """Return what a template would become, or all that is wrong with it."""
    return client.call(TemplateCheck, "POST", "domains/check", json=body)


def try_servers(client: Client, body: Mapping[str, Any]) -> ServersReport:
    """Return the tool servers of a draft as a worker finds them just now; nothing is stored."""
    return client.call(ServersReport, "POST", "domains/check/servers", json=body)


def try_request(client: Client, body: Mapping[str, Any]) -> FirstRequest:
    """Return what a draft's model would be sent first; no model is asked, nothing is stored."""
    return client.call(FirstRequest, "POST", "domains/check/request", json=body)


def create_domain(client: Client, body: Mapping[str, Any]) -> Domain:
    """Store a new domain."""
    return client.call(Domain, "POST", "domains", json=body)


def change_domain(client: Client, domain_id: UUID, body: Mapping[str, Any]) -> Domain:
    """Change what is given."""
    return client.call(Domain, "PATCH", f"domains/{domain_id}", json=body)


def duplicate_domain(client: Client, domain_id: UUID, name: str) -> Domain:
    """Store a copy under another name."""
    return client.call(Domain, "POST", f"domains/{domain_id}/duplicate", json={"name": name})


def delete_domain(client: Client, domain_id: UUID) -> None:
    """Delete a domain; its sessions go on."""
    client.send("DELETE", f"domains/{domain_id}")


def list_versions(client: Client, domain_id: UUID, before: int | None = None) -> DomainVersionPage:
    """Return a page of what the domain was, newest first."""
    return client.get(DomainVersionPage, f"domains/{domain_id}/versions", limit=20, before=before)


def get_version(client: Client, domain_id: UUID, version: int) -> DomainVersion:
    """Return what the domain was at one version, and what is another today."""
    return client.get(DomainVersion, f"domains/{domain_id}/versions/{version}")


def restore_version(client: Client, domain_id: UUID, version: int, edited: int) -> Domain:
    """Make an earlier version the newest; `edited` is the one that was looked at."""
    path = f"domains/{domain_id}/versions/{version}/restore"
    return client.call(Domain, "POST", path, json={"version": edited})


def get_image(client: Client, session_id: UUID) -> dict[str, Any]:
    """Return the configuration that a session was made with."""
    image: dict[str, Any] = client.send("GET", f"sessions/{session_id}/image").json()
    return image


def get_drift(client: Client, session_id: UUID) -> Drift:
    """Return how that differs from its domain today."""
    return client.get(Drift, f"sessions/{session_id}/drift")


def continue_session(client: Client, session_id: UUID, domain: str | None, key: str) -> Session:
    """Make a session with today's configuration that goes on from there; one for each `key`."""
    body = {"domain": domain} if domain else {}
    headers = {"Idempotency-Key": key}
    path = f"sessions/{session_id}/continue"
    return client.call(Session, "POST", path, json=body, headers=headers)
