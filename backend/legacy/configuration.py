"""The domains of the older system here, and the configuration of its images.

A domain of the file is found by what it became in an earlier run, else by its id or name, else made
from the file. Tool servers that no domain here may have are left out, each with a note.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations.service import Image
from backend.domains import service as domains
from backend.domains.allowed import Allowed
from backend.domains.credentials import find_credentials
from backend.domains.secrets import check_secrets
from backend.domains.template import image_of
from backend.domains.tool_servers import check_servers
from backend.errors.base import AppError
from backend.errors.domains import DomainNotFound
from backend.legacy.errors import LegacyRefused
from backend.legacy.plan import CONTAINER, container_of
from backend.legacy.store import Store
from backend.legacy.values import Unreadable, read_json, read_text
from backend.schemas.domains.templates import Domain, DomainTemplate, McpServer
from backend.schemas.people.rights import Permission
from backend.types import JSON
from db.models.conversations.legacy import LegacyDomainRow
from db.models.domains.domain import DomainRow

_SERVER: TypeAdapter[McpServer] = TypeAdapter(McpServer)
FROM_FILE = "Its domain was made from the file."
_CONFIGURED = ("systemprompt", "mcpservers")


@dataclass
class Configuration:
    """Which domain and image a row gets. `otherwise`: the domain of rows whose own is unknown."""

    store: Store
    allowed: Allowed
    otherwise: str | None = None
    said: dict[str, list[str]] = field(default_factory=dict)  # of domains from the file
    _found: dict[str, tuple[Domain, str]] = field(default_factory=dict)  # by their old ids

    def domain(self, session: Session, scope: Scope, old_id: str, notes: list[str]) -> Domain:
        """Return the domain of an old id; make it if the file describes it.

        Raise DomainNotFound where nothing describes it, and what `domains.create` raises.
        """
        bare = old_id.removeprefix(CONTAINER)
        if bare not in self._found:
            found = self._find(session, scope, old_id)
            if found is None:
                notes.append(FROM_FILE)
                return self._make(session, scope, old_id)
            self._found[bare] = found
        domain, note = self._found[bare]
        notes.append(note)
        return domain

    def image(self, domain: Domain, image_id: str, notes: list[str]) -> Image:
        """Return the image of a row: the file's own of this id, else a copy of the domain today."""
        template = domains.template_in(domain)
        own = self.store.images.get(image_id, {})
        if any(own.get(name) is not None for name in _CONFIGURED):
            changes: JSON = {"agents": [], "manager": None, **self._configured(own, notes)}
            template = template.model_copy(update=changes)
        elif own:
            notes.append("The file does not say how its image is configured; its domain does.")
        return Image(domain.id, domain.name, image_of(template), domain.version)

    def domain_notes(self, session: Session, old_ids: Iterable[str]) -> list[str]:
        """Return what is to be said of the domains that were made from the file, by their names."""
        row, bare = LegacyDomainRow, {one.removeprefix(CONTAINER) for one in old_ids}
        made = select(DomainRow.name, row.notes).join(row, row.domain_id == DomainRow.id)
        found = session.execute(made.where(row.legacy_id.in_(bare))).tuples()
        said = {**self.said, **dict(found.all())}
        return [f"{name}: {note}" for name, notes in sorted(said.items()) for note in notes]

    def _find(self, session: Session, scope: Scope, old_id: str) -> tuple[Domain, str] | None:
        """Return the domain that there is, and what is to be said; None: it is to be made."""
        row, bare = LegacyDomainRow, old_id.removeprefix(CONTAINER)
        made = session.scalar(select(row.domain_id).where(row.legacy_id == bare))
        if made is not None:
            return domains.find(session, scope, str(made)), FROM_FILE
        described = next(self._records_of(old_id), None)
        for name in dict.fromkeys(filter(None, (old_id, bare, _name_in(described or {})))):
            with suppress(DomainNotFound):
                found = domains.find(session, scope, name)
                return found, f"Its domain is {found.name!r} of this installation."
        if described is not None:
            return None
        if self.otherwise is None:
            raise DomainNotFound(
                f"The domain {old_id!r} is neither in the file nor in this installation. Make one"
                " of this name, or run it again with --domain NAME."
            )
        found = domains.find(session, scope, self.otherwise)
        return found, f"Its domain {old_id!r} is unknown, so it got {self.otherwise!r}."

    def _make(self, session: Session, scope: Scope, old_id: str) -> Domain:
        bare, described = old_id.removeprefix(CONTAINER), list(self._records_of(old_id))
        if not scope.has(Permission.MANAGE_DOMAINS):
            raise DomainNotFound(
                f"{scope.name} may not make domains. Make {bare!r} first, or run it again with"
                " --domain NAME."
            )
        template = self._template(described, _name_in(described[0]) or bare)
        made = domains.create(session, scope, template)
        values = {"legacy_id": bare, "domain_id": made.id, "notes": self.said[made.name]}
        session.execute(insert(LegacyDomainRow).values(**values))
        return made

    def _records_of(self, old_id: str) -> Iterator[JSON]:
        """Yield what the file says of a domain: its own record, its container's, its first image's.

        The older system made the first image of a domain when the domain was registered.
        """
        store, container_id = self.store, container_of(old_id)
        bare = old_id.removeprefix(CONTAINER)
        for record in (store.domains.get(bare), store.domains.get(old_id)):
            if record:
                yield record
        if record := store.containers.get(container_id):
            yield {"name": bare, **record}
        for image_id in store.images_of_container(container_id)[:1]:
            yield {**store.images[image_id], "name": bare}

    def _template(self, described: list[JSON], name: str) -> DomainTemplate:
        """Return the domain that the file describes; keep what is to be said of it."""
        notes = self.said[name] = []
        own = next((r for r in described if any(r.get(key) for key in _CONFIGURED)), {})
        about = read_text(described[0].get("description"))[0]
        try:
            return DomainTemplate.model_validate(
                {"name": name, "description": about, **self._configured(own, notes, plain=True)}
            )
        except ValidationError as error:
            fault = error.errors()[0]
            where = ".".join(map(str, fault["loc"]))
            raise LegacyRefused(f"Its domain cannot be made: {where}: {fault['msg']}.") from None

    def _configured(self, record: JSON, notes: list[str], *, plain: bool = False) -> JSON:
        servers = dict(self._servers(record.get("mcpservers"), notes))
        prompt = read_text(record.get("systemprompt"))[0]
        given = {name: one.model_dump() for name, one in servers.items()} if plain else servers
        return {"system_prompt": prompt, "mcp_servers": given}

    def _servers(self, value: Any, notes: list[str]) -> Iterator[tuple[str, McpServer]]:
        for name, given in _named_servers(value):
            try:
                server = _SERVER.validate_python(_as_server(given))
            except ValidationError as error:
                problem = error.errors()[0]["msg"]
            else:
                one = {name: server}
                faults = [
                    *check_servers(one, self.allowed),
                    *check_secrets(one, self.allowed.secrets)[0],
                    *find_credentials(one),
                ]
                if not faults:
                    yield name, server
                    continue
                problem = faults[0].message
            notes.append(f"The tool server {name!r} was left out: {problem}")


def is_about_domain(error: AppError) -> bool:
    """Return whether an error says that a row's domain cannot be had."""
    return type(error).__module__ == DomainNotFound.__module__


def _name_in(record: JSON) -> str:
    return read_text(record.get("name"))[0].strip()


def _named_servers(value: Any) -> Iterator[tuple[str, JSON]]:
    if isinstance(value, bytes | str):
        try:
            value = read_json(value)
        except Unreadable:
            value = None
    if isinstance(value, list):
        value = {str(one.get("name")): one for one in value if isinstance(one, Mapping)}
    for name, one in value.items() if isinstance(value, Mapping) else ():
        yield str(name), dict(one) if isinstance(one, Mapping) else {}


def _as_server(given: JSON) -> JSON:
    """Return a server in the words of our templates."""
    if "command" in given:
        kept: JSON = {"transport": "stdio", "command": given["command"]}
        names: tuple[str, ...] = ("args", "env")
    else:
        kind = given.get("type") or given.get("transport") or "http"
        is_known = kind in ("http", "streamable_http", "streamable-http")
        kept = {"transport": "streamable_http" if is_known else kind, "url": given.get("url")}
        names = ("headers",)
    return kept | {name: given[name] for name in names if given.get(name)}
