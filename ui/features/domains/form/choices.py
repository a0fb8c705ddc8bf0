"""The choices that the form's fields offer: what exists in this installation."""

from dataclasses import dataclass
from uuid import UUID

from backend.schemas.domains.configuration import Catalog, CatalogPolicy
from backend.schemas.domains.templates import Domain
from ui import state
from ui.client import ClientError
from ui.features.domains import calls as domains
from ui.features.domains.form import body as bodies
from ui.features.domains.form.draft import Draft
from ui.features.servers.calls import list_versions

ALL_OF_THEM = "*"
MOST_SOURCES = 12


@dataclass(frozen=True)
class Choices:
    """The known tools, including those of servers, and the rest of the catalog."""

    catalog: Catalog
    built_in: list[str]
    served: list[str]

    @property
    def tools(self) -> list[str]:
        """Return all tools."""
        return list(dict.fromkeys([*self.built_in, *self.served]))

    @property
    def models(self) -> list[str]:
        """Return the models known to the settings."""
        return self.catalog.models

    def sources(self, draft: Draft) -> str:
        """Return the sources as they were when the draft was opened."""
        if draft.sources is None:
            draft.sources = _sources()
        return draft.sources

    def policy(self, name: str) -> CatalogPolicy | None:
        """Return the catalog's entry for a policy."""
        return next((each for each in self.catalog.middleware if each.name == name), None)


def of(draft: Draft, domain: Domain | None, catalog: Catalog) -> Choices:
    """Return the choices for this domain's fields."""
    named = draft.get(("tools",))
    known = [tool.name for tool in catalog.tools]
    built_in = [name for name in known if name in named] if isinstance(named, list) else known
    return Choices(catalog, built_in, _served(draft, domain))


def _sources() -> str:
    try:
        names = domains.list_source_names(state.client())
    except ClientError:
        return ""  # the page Data says why
    more = len(names) - MOST_SOURCES
    return ", ".join(names[:MOST_SOURCES]) + (f" and {more} more" if more > 0 else "")


def _served(draft: Draft, domain: Domain | None) -> list[str]:
    """Return the tools that servers have listed, in the latest check or in earlier turns."""
    if draft.seen_tools is None:
        draft.seen_tools = _seen(domain.id) if domain and domain.mcp_servers else []
    names = list(bodies.get(draft.body, ("mcp_servers",), {}))
    report = draft.servers[1].items if draft.servers else []
    found = [tool.called for server in report if server.name in names for tool in server.tools]
    return list(dict.fromkeys([*found, *draft.seen_tools]))


def _seen(domain_id: UUID) -> list[str]:
    try:
        return [one.tool for one in list_versions(state.client(), domain_id).items]
    except ClientError:
        return []  # only suggestions: names can be typed as well
