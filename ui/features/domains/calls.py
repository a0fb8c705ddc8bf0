"""API calls of the pages about domains and configurations."""

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
    client: Client, *, archived: bool | None = None, counted: bool = False
) -> list[Domain]:
    """Return all domains by name; `counted`: with the number of sessions of each."""
    found: list[Domain] = []
    wanted = {"limit": MAX_LISTED, "archived": archived, "counted": counted or None}
    cursor = None
    while True:
        page = client.get(DomainPage, "domains", cursor=cursor, **wanted)
        found += page.items
        if page.next_cursor is None:
            return found
        cursor = page.next_cursor


def get_domain(client: Client, domain_id: UUID) -> Domain:
    """Return one domain."""
    return client.get(Domain, f"domains/{domain_id}")


def get_catalog(client: Client) -> Catalog:
    """Return the catalog of what a domain may name."""
    return client.get(Catalog, "catalog")


def list_source_names(client: Client) -> list[str]:
    """Return the names of the sources that tools can query."""
    return [source.name for source in client.get(SourceList, "sources").items]


def check_template(client: Client, body: Mapping[str, Any]) -> TemplateCheck:
    """Return the image that a template would give, or everything that is wrong with it."""
    return client.call(TemplateCheck, "POST", "domains/check", json=body)


def try_servers(client: Client, body: Mapping[str, Any]) -> ServersReport:
    """Return the current state of a draft's tool servers, seen by a worker; nothing is stored."""
    return client.call(ServersReport, "POST", "domains/check/servers", json=body)


def try_request(client: Client, body: Mapping[str, Any]) -> FirstRequest:
    """Return a draft's first model request; no model is called, and nothing is stored."""
    return client.call(FirstRequest, "POST", "domains/check/request", json=body)


def create_domain(client: Client, body: Mapping[str, Any]) -> Domain:
    """Store a new domain."""
    return client.call(Domain, "POST", "domains", json=body)


def change_domain(client: Client, domain_id: UUID, body: Mapping[str, Any]) -> Domain:
    """Change the given fields of a domain."""
    return client.call(Domain, "PATCH", f"domains/{domain_id}", json=body)


def duplicate_domain(client: Client, domain_id: UUID, name: str) -> Domain:
    """Store a copy under another name."""
    return client.call(Domain, "POST", f"domains/{domain_id}/duplicate", json={"name": name})


def delete_domain(client: Client, domain_id: UUID) -> None:
    """Delete a domain; its sessions go on."""
    client.send("DELETE", f"domains/{domain_id}")


def list_versions(client: Client, domain_id: UUID, before: int | None = None) -> DomainVersionPage:
    """Return a page of the domain's versions, newest first."""
    return client.get(DomainVersionPage, f"domains/{domain_id}/versions", limit=20, before=before)


def get_version(client: Client, domain_id: UUID, version: int) -> DomainVersion:
    """Return one version of the domain, and how it differs from today's."""
    return client.get(DomainVersion, f"domains/{domain_id}/versions/{version}")


def restore_version(client: Client, domain_id: UUID, version: int, edited: int) -> Domain:
    """Make an earlier version the newest; `edited` is the version that the page shows."""
    path = f"domains/{domain_id}/versions/{version}/restore"
    return client.call(Domain, "POST", path, json={"version": edited})


def get_image(client: Client, session_id: UUID) -> dict[str, Any]:
    """Return the configuration that a session was made with."""
    image: dict[str, Any] = client.send("GET", f"sessions/{session_id}/image").json()
    return image


def get_drift(client: Client, session_id: UUID) -> Drift:
    """Return how that configuration differs from its domain today."""
    return client.get(Drift, f"sessions/{session_id}/drift")


def continue_session(client: Client, session_id: UUID, domain: str | None, key: str) -> Session:
    """Continue in a new session with today's configuration; one session for each `key`."""
    body = {"domain": domain} if domain else {}
    headers = {"Idempotency-Key": key}
    path = f"sessions/{session_id}/continue"
    return client.call(Session, "POST", path, json=body, headers=headers)
