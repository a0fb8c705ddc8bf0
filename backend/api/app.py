"""The API application: its routes, error handlers, startup and shutdown."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import Depends, FastAPI, Request
from prometheus_client import CollectorRegistry
from starlette.responses import Response
from starlette.types import ASGIApp, Scope

from backend.addresses import Address
from backend.api import docs
from backend.api.access import Access
from backend.api.callers import Callers
from backend.api.channels import Channels
from backend.api.http.bodies import Bodies
from backend.api.http.head import HeadAsGet
from backend.api.http.spans import Spans
from backend.api.http.threads import Shared
from backend.api.http.times import Times
from backend.api.metrics import Metrics, OpenRequests
from backend.api.openapi import describe
from backend.api.problems import PROBLEMS, add_problem_handlers, problem
from backend.api.query import refuse_unknown
from backend.api.refusals import Refusals
from backend.api.routes import approvals, connections, model_prices, tasks, usage, webhooks
from backend.api.routes.conversations import (
    agent_state,
    branches,
    chat,
    everyone,
    exports,
    feedback,
    images,
    inspection,
    links,
    reviews,
    search,
    sessions,
    tables,
    turns,
)
from backend.api.routes.data import artifacts, files, imports, queries, sources
from backend.api.routes.domains import agents, configuration, dry_runs, servers, templates
from backend.api.routes.operations import audit, retention, server, work
from backend.api.routes.people import (
    account,
    budgets,
    grants,
    people,
    provider_sign_ins,
    providers,
    sign_ins,
    teams,
)
from backend.artifacts.documents.service import Documents
from backend.auth.oidc.metadata import Directory
from backend.auth.sign_ins import PROXY
from backend.data.sources import Sources
from backend.events.reader import EventReader
from backend.files.origins import fetcher
from backend.files.service import Files
from backend.imports.place import ImportPlace
from backend.imports.service import Imports
from backend.settings import Settings
from backend.telemetry import tracing
from backend.turns.follow.waiting import Waits
from backend.turns.process.services import Services
from backend.version import VERSION
from backend.web.identity import HeaderNames, IdentityHeaders
from backend.web.protection import protect

THREADS = 200  # most of them wait for PostgreSQL, so many of them cost little
# A running thread holds the interpreter, which delays the loop for all clients.
STREAM_THREADS = 2  # bring event streams up to date
ALL_WAITS = 2_000
ALL_STREAMS = 2_000
PREFIX = "/api/v1"


def create_app(services: Services) -> FastAPI:
    """Create the API over these services."""
    app = create_routes()
    app.state.services = services
    app.state.problems = Counter[int]()
    app.state.stopping = asyncio.Event()
    app.state.refusals = Refusals()
    app.state.reader = EventReader(services.redis)
    settings = services.settings
    app.state.directory = Directory()
    app.state.callers = Callers(services.database, settings)
    app.state.access = Access(services.database, app.state.callers)
    app.state.waits = Waits(services.database, app.state.reader, settings.user_waits, ALL_WAITS)
    app.state.channels = Channels(app.state.reader, settings.user_streams, ALL_STREAMS)
    app.state.sources = Sources(
        settings.data_dir, settings.source_urls, services.sandbox, fetcher(services.files)
    )
    app.state.files = Files(
        services.database, services.files, app.state.sources, settings.max_files_mb
    )
    app.state.imports = Imports(services.database, ImportPlace(settings), services.sandbox)
    app.state.artifacts = services.artifacts
    app.state.documents = Documents(
        services.database, services.sandbox, services.artifacts, services.settings.pages_url
    )
    app.state.parts = server.PartsCheck(services)
    app.state.metrics = Shared(_metrics(app).write)
    if tracing.is_on():
        app.add_middleware(Spans)
    return app


def create_routes() -> FastAPI:
    """Create the API's routes, which need services only when they are called."""
    app = FastAPI(
        title="Colloquy",
        description="Long conversations with tool-using agents.",
        version=VERSION,
        openapi_url=None,  # FastAPI's routes refuse no parameters, and its pages load
        docs_url=None,  # their scripts from elsewhere: see docs
        redoc_url=None,
        dependencies=[Depends(refuse_unknown)],
        lifespan=_lifespan,
        responses=PROBLEMS,
        # FastAPI's own would send addresses, with tokens of links and the words of searches.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.add_middleware(HeadAsGet)
    app.add_middleware(Bodies)
    add_problem_handlers(app)
    for resource in (
        feedback, budgets, model_prices,
        chat, everyone, sessions, tables, agent_state, exports, branches, links, reviews, search,
        turns, images, approvals, tasks, templates, dry_runs, configuration, agents, connections,
        inspection, servers, sources, queries, files, imports, artifacts, server, work, retention,
        usage, sign_ins, provider_sign_ins, account, people, teams, providers, audit, grants,
        webhooks,
    ):  # fmt: skip
        app.include_router(resource.router, prefix=PREFIX)
    app.include_router(exports.everywhere, prefix=PREFIX)
    app.include_router(server.root)
    app.include_router(docs.router)
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]  # FastAPI's documented way
    return app


def serve_app(app: FastAPI, address: Address) -> ASGIApp:
    """Return the API as served; the guard's refusals are problem details, and counted as such."""

    def refuse(scope: Scope, status: int, title: str, detail: str) -> Response:
        # A WebSocket's handshake is a GET, and is refused as one.
        request = {"method": "GET", **scope, "type": "http", "app": app}
        return problem(Request(request), status, title, detail)

    settings: Settings = app.state.services.settings
    served: ASGIApp = app
    if PROXY in settings.ways:
        names = HeaderNames(*settings.identity_headers)
        served = IdentityHeaders(app, settings.proxies, names, refuse)
    return protect(served, address, refuse=refuse)


def _metrics(app: FastAPI) -> Metrics:
    """Return the figures of this process, to which its requests add their times."""

    def count_open() -> OpenRequests:
        return OpenRequests(app.state.waits.count, app.state.channels.count)

    registry = CollectorRegistry()
    app.add_middleware(Times, registry=registry)
    return Metrics(app.state.services, app.state.problems, count_open, registry)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(STREAM_THREADS))
    services: Services = app.state.services
    app.state.reader.start()
    services.sandbox.start()
    yield
    app.state.reader.close()
    services.announcer.settle()
    services.sandbox.close()
    services.database.close()
    await asyncio.to_thread(tracing.close)
