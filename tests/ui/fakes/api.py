"""A small API that speaks the wire contract from memory: pages are tested at their own seam."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator
from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import UUID

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from backend.schemas.artifacts import Artifact
from backend.schemas.conversations.sessions import (
    ChatRequest,
    ChatResponse,
    MessagePage,
    NewChatRequest,
    Problem,
    Session,
    SessionChange,
    SessionPage,
)
from backend.schemas.conversations.turns import Turn, TurnPage, TurnStatus
from backend.schemas.data.queries import KeptQuery, OwnQuery, QueryTable
from backend.schemas.operations.server import ServerInfo
from backend.schemas.operations.work import Work, WorkerInfo
from backend.schemas.retention import Retention, RetentionOutcome
from colloquy_kit.messages.kinds import ContentType, MessageType
from tests.ui.fakes.account import add_account_routes
from tests.ui.fakes.approvals import add_approval_routes
from tests.ui.fakes.artifacts import add_artifact_routes
from tests.ui.fakes.branches import add_branch_routes, rows_on_branch
from tests.ui.fakes.domains import add_domain_routes
from tests.ui.fakes.files import add_file_routes
from tests.ui.fakes.grants import add_grant_routes
from tests.ui.fakes.inspection import add_inspection_routes
from tests.ui.fakes.people import add_people_routes
from tests.ui.fakes.plans import add_plan_routes
from tests.ui.fakes.providers import add_provider_routes
from tests.ui.fakes.reviews import add_review_routes
from tests.ui.fakes.search import add_search_route
from tests.ui.fakes.servers import add_server_routes
from tests.ui.fakes.store import Store
from tests.ui.fakes.usage import add_usage_routes
from tests.ui.fakes.webhooks import add_webhook_routes


def build_app(store: Store) -> FastAPI:  # noqa: C901, PLR0915 (a small function for each route)
    app = FastAPI()
    api = "/api/v1"

    def problem(status, title, detail):
        body = Problem(title=title, status=status, detail=detail).model_dump()
        return JSONResponse(body, status, media_type="application/problem+json")

    missing = lambda: problem(404, "Session not found", "There is no such session.")  # noqa: E731

    @app.middleware("http")
    async def count(request: Request, call_next):
        store.calls.append(f"{request.method} {request.url.path}?{request.url.query}")
        if store.refusal is not None:
            return problem(store.refusal.status, store.refusal.title, store.refusal.detail)
        return await call_next(request)

    @app.get(f"{api}/server")
    def server() -> ServerInfo:
        return store.server

    @app.get(f"{api}/work")
    def work() -> Work:
        return store.work()

    @app.post(f"{api}/workers/{{name}}/drain", status_code=202)
    def drain(name: str) -> WorkerInfo:
        (worker,) = [worker for worker in store.workers if worker.name == name]
        worker.is_draining = True
        return worker

    @app.get(f"{api}/sessions")
    def sessions(
        limit: int = 30, cursor: str | None = None, q: str = "", status: str | None = None,
        archived: bool = False, scope: str | None = None, domain: str | None = None,
        pinned: bool | None = None, owner: str = "", team: str = "", has_errors: bool = False,
        has_thumbs_down: bool = False,
    ) -> SessionPage:  # fmt: skip
        found = [
            s for s in store.sessions.values()
            if q.lower() in s.title.lower() and s.archived == archived
            and (status is None or s.status == status) and pinned in (None, s.pinned)
            and (scope == "all" or s.owner == store.server.user)
            and owner in s.owner and domain in (None, s.domain)
            and (not has_errors or s.figures.errors) and team in (s.team_name or "")
            and (not has_thumbs_down or s.figures.thumbs_down)
        ]  # fmt: skip
        found.sort(key=lambda s: s.updated_at, reverse=True)
        start = int(cursor or 0)
        more = len(found) > start + limit
        return SessionPage(
            items=found[start : start + limit], next_cursor=str(start + limit) if more else None
        )

    add_review_routes(app, store, api)

    @app.get(f"{api}/sessions/{{session_id}}")
    def session(session_id: UUID):
        if session_id in store.reviews.needed:
            return problem(403, "Reason needed", "Say why you read it.")
        return store.sessions.get(session_id) or missing()

    @app.patch(f"{api}/sessions/{{session_id}}")
    def change(session_id: UUID, change: SessionChange):
        if session_id not in store.sessions:
            return missing()
        for name, value in change.model_dump(exclude_unset=True).items():
            setattr(store.sessions[session_id], name, value)
        return store.sessions[session_id]

    @app.delete(f"{api}/sessions/{{session_id}}", status_code=202)
    def delete(session_id: UUID, after_seconds: int):
        if session_id not in store.sessions:
            return missing()
        store.leaving[session_id] = store.sessions.pop(session_id)
        return store.leaving[session_id]

    @app.post(f"{api}/sessions/{{session_id}}/undelete")
    def undelete(session_id: UUID):
        if session_id not in store.leaving:
            return missing()
        store.sessions[session_id] = store.leaving.pop(session_id)
        return store.sessions[session_id]

    add_search_route(app, api, store)

    @app.get(f"{api}/sessions/{{session_id}}/messages")
    def messages(
        session_id: UUID, limit: int = 50, before: int | None = None, after: int | None = None,
        around: int | None = None,
    ) -> MessagePage:  # fmt: skip
        rows = rows_on_branch(store, session_id)
        earlier = [row for row in rows if row.position < (around or before or 2**31)]
        first = max(len(earlier) - (limit // 2 if around else limit), 0)
        if after is not None:
            first = len([row for row in rows if row.position <= after])
        last = min(first + limit, len(rows) if around or after is not None else len(earlier))
        page = rows[first:last]
        return MessagePage(
            items=page,
            next_before=page[0].position if page and first > 0 else None,
            next_after=page[-1].position if page and last < len(rows) else None,
        )

    @app.get(f"{api}/sessions/{{session_id}}/turns")
    def turns(session_id: UUID) -> TurnPage:
        return TurnPage(items=store.unfinished(session_id))

    @app.get(f"{api}/turns/{{turn_id}}")
    def turn(turn_id: UUID) -> Turn:
        return store.turns[turn_id]

    @app.post(f"{api}/turns/{{turn_id}}/stop")
    def stop(turn_id: UUID) -> Turn:
        turn = store.turns[turn_id]
        if turn.status is TurnStatus.RUNNING:
            store.add_row(store.sessions[turn.session_id], MessageType.SYSTEM, ContentType.NOTICE,
                          {"text": "Stopped."}, turn)  # fmt: skip
        store.finish(turn, TurnStatus.STOPPED)
        return turn

    add_branch_routes(app, store, lambda: problem(409, "Session busy", "A turn is not finished."))

    @app.post(f"{api}/sessions/{{session_id}}/rebuild")
    def rebuild(session_id: UUID) -> Session:
        text = {"text": "What the agent remembers was rebuilt from the messages above."}
        session = store.sessions[session_id]
        turn = next(turn for turn in store.turns.values() if turn.session_id == session_id)
        store.add_row(session, MessageType.SYSTEM, ContentType.NOTICE, text, turn)
        return session

    @app.get(f"{api}/retention")
    def retention() -> Retention:
        return store.retention

    @app.post(f"{api}/retention")
    def apply_retention(dry_run: bool = True) -> RetentionOutcome:
        planned = store.retention.planned
        return RetentionOutcome(planned=planned, deleted=0 if dry_run else planned)

    add_domain_routes(app, store, api)

    add_server_routes(app, store.servers)
    add_grant_routes(app, api, store)

    add_approval_routes(app, store.approvals, api)

    add_artifact_routes(app, store.artifacts, api)
    add_plan_routes(app, store.plans, api)

    add_inspection_routes(app, store.inspected, api)

    add_account_routes(app, store.account, api)
    add_webhook_routes(app, store.webhooks, api)
    add_people_routes(app, store.people, api)
    add_provider_routes(app, store.providers, api)
    add_usage_routes(app, store.usage, api)
    add_file_routes(app, store.uploads, api)

    @app.get(f"{api}/sessions/{{session_id}}/results/{{result_id}}")
    def result(session_id: UUID, result_id: str, format: str = "json"):
        if format == "file":
            return Response(store.files[result_id])
        return PlainTextResponse(store.results[result_id])

    @app.get(f"{api}/sessions/{{session_id}}/messages/{{message_id}}/tables/{{number}}")
    def message_table(session_id: UUID, message_id: UUID, number: int) -> QueryTable:
        return store.tables[message_id, number]

    @app.post(f"{api}/sessions/{{session_id}}/query/artifact")
    def keep_query(session_id: UUID, body: KeptQuery) -> Artifact:
        store.bodies.append(body.model_dump())
        session = store.sessions[session_id]
        return store.artifacts.add(session, "table", body.title, {"rows": []}, None)

    @app.post(f"{api}/sessions/{{session_id}}/query")
    def query(session_id: UUID, body: OwnQuery) -> QueryTable:
        store.bodies.append(body.model_dump())
        return store.own_table

    def submit(session_id: UUID | None, message: str, key: str):
        if key in store.keys:
            return store.keys[key]
        session = store.sessions[session_id] if session_id else store.add_session(message[:60])
        busy = bool(store.unfinished(session.id))
        turn = store.add_turn(session, message)
        session.updated_at = datetime.now(UTC)
        if not busy:
            store.play(turn)
        store.keys[key] = ChatResponse(
            session_id=session.id, turn_id=turn.id, status=turn.status, response=None,
            agent=turn.agent,
        )  # fmt: skip
        return store.keys[key]

    @app.post(f"{api}/chat", status_code=202)
    def chat(body: NewChatRequest, request: Request) -> ChatResponse:
        store.asked_domains.append(body.domain)
        store.asked_teams.append(body.team)
        return submit(body.session_id, body.message, request.headers["Idempotency-Key"])

    @app.post(f"{api}/sessions/{{session_id}}/chat", status_code=202)
    def session_chat(session_id: UUID, body: ChatRequest, request: Request) -> ChatResponse:
        return submit(session_id, body.message, request.headers["Idempotency-Key"])

    @app.get(f"{api}/sessions/{{session_id}}/events")
    async def events(session_id: UUID, request: Request):
        return StreamingResponse(
            _stream(store, session_id, request), media_type="text/event-stream"
        )

    answered = [(route.path, tuple(route.methods)) for route in app.routes]
    assert len(answered) == len(set(answered)), "one of two equal routes would never answer"
    return app


async def _stream(store: Store, session_id: UUID, request: Request) -> AsyncIterator[str]:
    given = store.events[session_id]
    next_event = len(given)
    if after := request.headers.get("Last-Event-ID"):
        next_event = int(after) + 1
    elif active := store.unfinished(session_id):
        turn_id = str(active[0].id)
        starts = [i for i, (_, d) in enumerate(given) if d["context"]["turn_id"] == turn_id]
        next_event = starts[0] if starts else len(given)
    while not await request.is_disconnected():
        for index in range(next_event, len(given)):
            name, data = given[index]
            yield f"id: {index}\nevent: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
        next_event = len(given)
        await asyncio.sleep(0.01)


@contextmanager
def serve(store: Store, port: int = 0):
    """Serve a store; yields the base URL."""
    config = uvicorn.Config(
        build_app(store),
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    found = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{found}"
    finally:
        server.should_exit = True  # the thread ends soon, and nobody has to wait for it
