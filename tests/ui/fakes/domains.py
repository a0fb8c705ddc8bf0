"""The part of the fake API that is about domains and configurations."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from backend.schemas.conversations.sessions import Problem
from backend.schemas.domains.configuration import (
    Catalog,
    CatalogPolicy,
    CatalogTool,
    DomainVersion,
    DomainVersionPage,
    DomainVersionSummary,
    Drift,
    Fault,
    TemplateCheck,
)
from backend.schemas.domains.dry_runs import FirstRequest
from backend.schemas.domains.servers import ServersReport
from backend.schemas.domains.templates import Domain, DomainPage

KEEP = {"properties": {"keep": {"type": "integer", "default": 100, "description": "How many."}}}
NONE: dict = {"properties": {}}
POLICIES = {"approvals": NONE, "recent_messages": KEEP, "summarization": NONE, "title": NONE}


class FakeDomains:
    """What the fake knows of domains; tests fill it and read it."""

    def __init__(self):
        self.items: dict[UUID, Domain] = {}
        self.versions: dict[UUID, list[DomainVersion]] = {}
        self.faults: list[Fault] = []
        self.warnings: list[Fault] = []
        self.refusal: Problem | None = None
        self.drift = Drift(domain_exists=True, image_version=1, domain_version=1, changes=[])
        self.request = FirstRequest(agent="assistant", model="scripted")
        self.trials: list[dict] = []
        self.continued: list[str | None] = []
        self.image = {"name": "finance", "system_prompt": "Be brief."}
        self.catalog = Catalog(
            tools=[CatalogTool(name=name, effect="read_only") for name in ("get_budget", "list")],
            middleware=[
                CatalogPolicy(name=name, description=f"About {name}.", settings=settings)
                for name, settings in POLICIES.items()
            ],
            models=["gpt-4o", "scripted"],
            default_model="scripted",
            secrets=["COLLOQUY_SECRET_*"],
        )

    def add(self, name="finance", **fields) -> Domain:
        now = datetime.now(UTC)
        values = {"id": uuid4(), "version": 1, "is_default": not self.items, "sessions": 0}
        domain = Domain(name=name, created_at=now, updated_at=now, **(values | fields))
        self.items[domain.id] = domain
        self.versions[domain.id] = []
        self.keep(domain)
        return domain

    def keep(self, domain: Domain) -> None:
        template = domain.model_dump(include=set(DomainVersion.model_fields["template"].annotation
                                                 .model_fields))  # fmt: skip
        self.versions[domain.id].insert(
            0,
            DomainVersion(
                version=domain.version, name=domain.name, changed_by="local",
                created_at=domain.updated_at, template=template,
            ),
        )  # fmt: skip

    def change(self, domain_id: UUID, body: dict) -> Domain:
        before = self.items[domain_id]
        values = before.model_dump(mode="json") | {k: v for k, v in body.items() if k != "version"}
        content = set(body) - {"archived", "is_default", "version"}
        values["version"] = before.version + bool(content)
        domain = self.items[domain_id] = Domain.read(values)
        if content:
            self.keep(domain)
        return domain


def add_domain_routes(app: FastAPI, store, api: str) -> None:  # noqa: C901 (a function a route)
    fake: FakeDomains = store.domains

    def refused():
        said = fake.refusal
        return JSONResponse(said.model_dump(), said.status, media_type="application/problem+json")

    @app.get(f"{api}/domains")
    def domains(archived: bool | None = None, limit: int = 50, cursor: int = 0) -> DomainPage:
        found = [d for d in fake.items.values() if archived in (None, d.archived)]
        found.sort(key=lambda d: d.name)
        end = cursor + limit
        more = str(end) if end < len(found) else None
        return DomainPage(items=found[cursor:end], next_cursor=more)

    @app.get(f"{api}/catalog")
    def catalog() -> Catalog:
        return fake.catalog

    @app.post(f"{api}/domains/check")
    def check(body: dict) -> TemplateCheck:
        image = None if fake.faults else {k: v for k, v in body.items() if v}
        return TemplateCheck(faults=fake.faults, warnings=fake.warnings, image=image)

    @app.post(f"{api}/domains/check/request")
    def first_request(body: dict) -> FirstRequest:
        fake.trials.append(body)
        return fake.request

    @app.post(f"{api}/domains/check/servers")
    def draft_servers(body: dict) -> ServersReport:
        fake.trials.append(body)
        return ServersReport(worker="desk-1", items=store.servers.reports)

    @app.post(f"{api}/domains", status_code=201)
    def create(body: dict):
        return refused() if fake.refusal else fake.add(**body)

    @app.get(f"{api}/domains/{{domain_id}}")
    def domain(domain_id: UUID):
        return fake.items[domain_id] if domain_id in fake.items else refused()

    @app.patch(f"{api}/domains/{{domain_id}}")
    def change(domain_id: UUID, body: dict):
        store.bodies.append(body)
        return refused() if fake.refusal else fake.change(domain_id, body)

    @app.delete(f"{api}/domains/{{domain_id}}", status_code=204)
    def delete(domain_id: UUID) -> None:
        del fake.items[domain_id]

    @app.post(f"{api}/domains/{{domain_id}}/duplicate", status_code=201)
    def duplicate(domain_id: UUID, body: dict):
        return refused() if fake.refusal else fake.add(body["name"])

    @app.get(f"{api}/domains/{{domain_id}}/versions")
    def versions(domain_id: UUID, before: int | None = None) -> DomainVersionPage:
        fields = set(DomainVersionSummary.model_fields)
        found = fake.versions[domain_id]
        items = [DomainVersionSummary(**v.model_dump(include=fields)) for v in found]
        return DomainVersionPage(items=items, next_before=None)

    @app.get(f"{api}/domains/{{domain_id}}/versions/{{version}}")
    def version(domain_id: UUID, version: int) -> DomainVersion:
        return next(v for v in fake.versions[domain_id] if v.version == version)

    @app.post(f"{api}/domains/{{domain_id}}/versions/{{version}}/restore")
    def restore(domain_id: UUID, version: int) -> Domain:
        earlier = next(v for v in fake.versions[domain_id] if v.version == version)
        return fake.change(domain_id, earlier.template.model_dump(mode="json"))

    @app.get(f"{api}/sessions/{{session_id}}/image")
    def image(session_id: UUID) -> dict:
        return fake.image

    @app.get(f"{api}/sessions/{{session_id}}/drift")
    def drift(session_id: UUID) -> Drift:
        return fake.drift

    @app.post(f"{api}/sessions/{{session_id}}/continue", status_code=201)
    def resume_after_decisions(session_id: UUID, body: dict):
        if fake.refusal:
            return refused()
        fake.continued.append(body.get("domain"))
        return store.add_session(store.sessions[session_id].title)
