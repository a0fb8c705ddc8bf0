"""API calls for grants: who was granted what, and what one person may see."""

from urllib.parse import quote

from backend.schemas.data.sources import SourceList
from backend.schemas.domains.configuration import Catalog
from backend.schemas.people.grants import Grant, Grants, NewGrant, Principal, Principals, Reach
from backend.schemas.people.rights import PrincipalType, Resource
from ui.client import Client
from ui.features.domains.calls import list_domains
from ui.features.sharing.calls import EVERYONE

Names = dict[str, str]  # of resources, by their ids


def of_kind(client: Client, kind: Resource) -> list[Grant]:
    """Return the first grants on resources of a kind."""
    return client.get(Grants, "grants", resource_type=kind).items


def of_resource(client: Client, kind: Resource, resource_id: str) -> Grants:
    """Return the grants on a resource, and who may use it."""
    return client.get(Grants, "grants", resource_type=kind, resource_id=resource_id)


def put(client: Client, grant: NewGrant) -> Grant:
    """Grant a right."""
    return client.call(Grant, "PUT", "grants", json=grant.model_dump(mode="json"))


def remove(client: Client, grant: Grant) -> None:
    """Take a right away."""
    names = ("resource_type", "resource_id", "principal_type", "principal_id", "right")
    client.send("DELETE", "grants", params={name: getattr(grant, name) for name in names})


def reach(client: Client, user_id: str) -> Reach:
    """Return what a person may see and use."""
    return client.get(Reach, f"people/{quote(user_id, safe='')}/reach")


def principals(client: Client, q: str) -> list[Principal]:
    """Return everyone, and the teams and people whose names contain `q`."""
    return [EVERYONE, *client.get(Principals, "principals", q=q, limit=50).items]


def people(client: Client, q: str) -> list[Principal]:
    """Return the people whose names contain `q`."""
    return [one for one in principals(client, q) if one.type is PrincipalType.USER]


def resources(client: Client, kind: Resource) -> Names:
    """Return the resources of a kind that can be listed, and those that have grants."""
    found: Names = {}
    if kind is Resource.DOMAIN:
        found = {str(domain.id): domain.name for domain in list_domains(client)}
    elif kind is Resource.SOURCE:
        found = {one.name: one.name for one in client.get(SourceList, "sources").items}
    elif kind is Resource.SERVER:
        found = {name: name for domain in list_domains(client) for name in domain.mcp_servers}
    elif kind in (Resource.MODEL, Resource.SECRET):
        catalog = client.get(Catalog, "catalog")
        names = catalog.models if kind is Resource.MODEL else catalog.secrets
        found = {name: name for name in names}
    with_grants = (grant.resource_id for grant in of_kind(client, kind))
    return found | {one: one for one in with_grants if one not in found}
