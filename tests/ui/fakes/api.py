"""A small API that speaks the wire contract from memory: pages are tested at their own seam."""

import asyncio
import json
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from backend.schemas.conversations.sessions import (
    ChatRequest,
    ChatResponse,
    ContentType,
    DisplayMessage,
    EventContext,
    MessagePage,
    MessageStatus,
    MessageType,
    NewChatRequest,
    Problem,
    Session,
    SessionChange,
    SessionPage,
)
from backend.schemas.conversations.turns import Turn, TurnPage, TurnState, TurnStatus, Usage
from backend.schemas.data.queries import OwnQuery, QueryTable
from backend.schemas.events import (
    MessageAdded,
    MessageUpdated,
    TextDelta,
    ThinkingDelta,
    TurnFinished,
    TurnQueued,
    TurnStarted,
)
from backend.schemas.operations.server import ServerInfo
from backend.schemas.operations.work import Work, WorkerInfo, WorkTurn
from backend.schemas.retention import Retention, RetentionOutcome, RetentionRules
from tests.ui.fakes.approvals import FakeApprovals, add_approval_routes
from tests.ui.fakes.artifacts import FakeArtifacts, add_artifact_routes
from tests.ui.fakes.branches import Fork, add_branch_routes, rows_on_branch
from tests.ui.fakes.domains import FakeDomains, add_domain_routes
from tests.ui.fakes.files import FakeFiles, add_file_routes
from tests.ui.fakes.inspection import Inspected, add_inspection_routes
from tests.ui.fakes.plans import FakePlans, add_plan_routes
from tests.ui.fakes.search import add_search_route
from tests.ui.fakes.servers import FakeServers, add_server_routes
from tests.ui.fakes.usage import FakeUsage, add_usage_routes

UNFINISHED = (TurnStatus.QUEUED, TurnStatus.RUNNING, TurnStatus.WAITING)


class Store:
    """Everything the fake knows; tests fill it and read it."""

    def __init__(self):
        self.server = ServerInfo(
            user="local",
            is_admin=True,
            model="demo",
            is_demo_model=True,
            ready=True,
            workers=1,
            missing=[],
        )
        self.sessions: dict[UUID, Session] = {}
        self.rows: dict[UUID, list[DisplayMessage]] = {}
        self.turns: dict[UUID, Turn] = {}
        self.events: dict[UUID, list[tuple[str, dict]]] = {}
        self.forks: dict[UUID, Fork] = defaultdict(Fork)
        self.results: dict[str, str] = {}
        self.files: dict[str, bytes] = {}
        self.keys: dict[str, ChatResponse] = {}
        self.calls: list[str] = []
        self.bodies: list[dict] = []
        self.asked_domains: list[str | None] = []
        self.domains = FakeDomains()
        self.workers = [WorkerInfo(name="desk-1", turns=0, capacity=8, is_draining=False)]
        self.redis_answers = True
        self.approvals = FakeApprovals(self)
        self.artifacts = FakeArtifacts(self)
        self.plans = FakePlans(self)
        rules = RetentionRules(days=0, sessions_per_person=0, megabytes=0, every_hours=24)
        self.inspected = Inspected()
        self.retention = Retention(rules=rules, planned=0, first=[], runs=[])
        self.servers = FakeServers()
        self.usage = FakeUsage()
        self.own_table: QueryTable | None = None
        self.uploads = FakeFiles()
        self.answers = True
        self.pause = 0.0
        self.refusal: Problem | None = None
        self.search_refusal: Problem | None = None
        self.search_is_complete = True

    def add_session(self, title="Budget of CC-1001", *, age=timedelta(), **fields) -> Session:
        now = datetime.now(UTC) - age
        values = {
            "id": uuid4(), "title": title, "domain": "finance", "domain_id": uuid4(),
            "image_id": uuid4(), "status": "idle", "pinned": False, "archived": False,
            "message_count": 0, "turn_count": 0, "owner": "local", "created_at": now,
            "updated_at": now,
        } | fields  # fmt: skip
        session = Session(**values)
        self.sessions[session.id] = session
        self.rows[session.id] = []
        self.events[session.id] = []
        return session

    def add_row(self, session, message_type, content_type, content, turn=None, **fields):
        rows = self.rows[session.id]
        row = DisplayMessage(
            id=fields.pop("id", None) or uuid4(), position=len(rows) + 1, message_type=message_type,
            content_type=content_type, content=content, sequence=fields.pop("sequence", 0),
            status=fields.pop("status", MessageStatus.COMPLETED), agent=fields.pop("agent", None),
            turn_id=turn.id if turn else None, created_at=datetime.now(UTC),
            metadata=fields.pop("metadata", {}),
        )  # fmt: skip
        rows.append(row)
        session.message_count = len(rows)
        if turn is not None:
            self.publish(turn, MessageAdded, message=row)
        return row

    def add_turn(self, session, message, status=TurnStatus.QUEUED, **fields) -> Turn:
        waiting = [t for t in self.unfinished(session.id)]
        turn = Turn(
            id=uuid4(), session_id=session.id, status=status, agent="Analyst", message=message,
            attempts=0, steps=0, usage=Usage(), error=None,
            queue_position=len(waiting) if status is TurnStatus.QUEUED else None,
            created_at=datetime.now(UTC), started_at=None, finished_at=None,
        ).model_copy(update=fields)  # fmt: skip
        self.turns[turn.id] = turn
        session.turn_count += 1
        self.publish(turn, TurnQueued, turn=turn)
        if not waiting:
            self.ask(turn)
        return turn

    def ask(self, turn):
        session = self.sessions[turn.session_id]
        session.status = turn.status
        self.add_row(session, MessageType.USER, ContentType.TEXT, {"text": turn.message}, turn)

    def unfinished(self, session_id) -> list[Turn]:
        return [
            t for t in self.turns.values() if t.session_id == session_id and t.status in UNFINISHED
        ]

    def work(self) -> Work:
        turns = [turn for turn in self.turns.values() if turn.status in UNFINISHED]
        failed = [turn for turn in self.turns.values() if turn.status is TurnStatus.FAILED]
        counts = {str(status): sum(t.status is status for t in turns) for status in UNFINISHED}
        return Work(
            **counts, redis_answers=self.redis_answers, workers=self.workers,
            turns=[self.work_turn(turn) for turn in turns],
            failures=[self.work_turn(turn) for turn in failed],
        )  # fmt: skip

    def work_turn(self, turn) -> WorkTurn:
        session, runs = self.sessions[turn.session_id], turn.status is TurnStatus.RUNNING
        state = TurnState(**turn.model_dump(include=set(TurnState.model_fields))).model_dump()
        if runs and turn.heartbeat_seconds is None:
            state |= {"heartbeat_seconds": 2.0, "lease_seconds": 8.0}
        latest = [t for t in self.turns.values() if t.session_id == session.id][-1]
        return WorkTurn(
            **state, id=turn.id, session_id=session.id, title=session.title, owner=session.owner,
            status=turn.status, agent=turn.agent, worker="desk-1" if runs else None,
            age_seconds=75.0, error=turn.error,
            is_retryable=turn is latest and turn.status is TurnStatus.FAILED,
        )  # fmt: skip

    def publish(self, of, kind, agent=None, **data):
        session = self.sessions.get(of.session_id)
        if session is None:
            return
        context = EventContext(
            domain_id=None, session_id=session.id, image_id=session.image_id,
            agent_id=agent or of.agent, turn_id=of.id,
        )  # fmt: skip
        event = kind(context=context, **data)
        self.events[session.id].append((event.event, event.model_dump(mode="json")))

    def start(self, turn):
        turn.status, turn.attempts = TurnStatus.RUNNING, turn.attempts + 1
        turn.started_at = datetime.now(UTC)
        self.sessions[turn.session_id].status = TurnStatus.RUNNING
        self.publish(turn, TurnStarted, turn=turn)

    def finish(self, turn, status=TurnStatus.SUCCEEDED):
        if turn.status not in UNFINISHED:
            return
        turn.status, turn.finished_at = status, datetime.now(UTC)
        session = self.sessions.get(turn.session_id)
        if session is None:
            return
        session.updated_at = datetime.now(UTC)
        waiting = self.unfinished(session.id)
        session.status = waiting[0].status if waiting else "idle"
        self.publish(turn, TurnFinished, turn=turn)
        if waiting:
            self.ask(waiting[0])
            threading.Thread(target=self.play, args=(waiting[0],), daemon=True).start()

    def play(self, turn):
        """Answer a turn the way the demo model does: think, call a tool, answer in pieces."""
        if not self.answers:
            return
        session = self.sessions[turn.session_id]
        self.start(turn)
        thinking = self.stream(turn, ThinkingDelta, "The person asks for a budget.")
        if thinking is None:
            return
        self.add_row(session, MessageType.ASSISTANT, ContentType.THINKING,
                     {"text": "The person asks for a budget."}, turn, agent="Analyst",
                     id=thinking)  # fmt: skip
        call = self.add_row(
            session, MessageType.ASSISTANT, ContentType.TOOL_CALL,
            {"call_id": "c1", "name": "lookup_budget", "arguments": {"cost_centre": "CC-1001"}},
            turn, status=MessageStatus.EXECUTING, agent="Analyst", sequence=1,
        )  # fmt: skip
        time.sleep(self.pause * 10)
        call.status = MessageStatus.COMPLETED
        self.publish(turn, MessageUpdated, message=call)
        self.add_row(
            session, MessageType.TOOL, ContentType.TOOL_RESULT,
            {"tool_call_id": "c1", "name": "lookup_budget", "content": "120000", "is_error": False},
            turn, agent="Analyst",
        )  # fmt: skip
        text = f"The budget of **CC-1001** is $120,000.\n\nYou asked: {turn.message[:200]}"
        answer = self.stream(turn, TextDelta, text)
        if answer is not None:
            self.add_row(session, MessageType.ASSISTANT, ContentType.TEXT, {"text": text}, turn,
                         agent="Analyst", id=answer)  # fmt: skip
            self.finish(turn)

    def stream(self, turn, kind, text) -> UUID | None:
        message_id = uuid4()
        for word in text.split(" "):
            if turn.status is not TurnStatus.RUNNING:
                return None
            self.publish(turn, kind, message_id=message_id, text=word + " ")
            time.sleep(self.pause)
        return message_id


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
        pinned: bool | None = None,
    ) -> SessionPage:  # fmt: skip
        found = [
            s for s in store.sessions.values()
            if q.lower() in s.title.lower() and s.archived == archived
            and (status is None or s.status == status) and pinned in (None, s.pinned)
            and (scope == "all" or s.owner == store.server.user)
        ]  # fmt: skip
        found.sort(key=lambda s: s.updated_at, reverse=True)
        start = int(cursor or 0)
        more = len(found) > start + limit
        return SessionPage(
            items=found[start : start + limit], next_cursor=str(start + limit) if more else None
        )

    @app.get(f"{api}/sessions/{{session_id}}")
    def session(session_id: UUID):
        return store.sessions.get(session_id) or missing()

    @app.patch(f"{api}/sessions/{{session_id}}")
    def change(session_id: UUID, change: SessionChange):
        if session_id not in store.sessions:
            return missing()
        for name, value in change.model_dump(exclude_none=True).items():
            setattr(store.sessions[session_id], name, value)
        return store.sessions[session_id]

    @app.delete(f"{api}/sessions/{{session_id}}", status_code=204)
    def delete(session_id: UUID) -> None:
        for turn in store.unfinished(session_id):
            store.finish(turn, TurnStatus.STOPPED)
        store.sessions.pop(session_id, None)

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

    add_approval_routes(app, store.approvals, api)

    add_artifact_routes(app, store.artifacts, api)
    add_plan_routes(app, store.plans, api)

    add_inspection_routes(app, store.inspected, api)

    add_usage_routes(app, store.usage, api)
    add_file_routes(app, store.uploads, api)

    @app.get(f"{api}/sessions/{{session_id}}/results/{{result_id}}")
    def result(session_id: UUID, result_id: str, format: str = "json"):
        if format == "file":
            return Response(store.files[result_id])
        return PlainTextResponse(store.results[result_id])

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
            threading.Thread(target=store.play, args=(turn,), daemon=True).start()
        store.keys[key] = ChatResponse(
            session_id=session.id, turn_id=turn.id, status=turn.status, response=None,
            agent=turn.agent,
        )  # fmt: skip
        return store.keys[key]

    @app.post(f"{api}/chat", status_code=202)
    def chat(body: NewChatRequest, request: Request) -> ChatResponse:
        store.asked_domains.append(body.domain)
        return submit(body.session_id, body.message, request.headers["Idempotency-Key"])

    @app.post(f"{api}/sessions/{{session_id}}/chat", status_code=202)
    def session_chat(session_id: UUID, body: ChatRequest, request: Request) -> ChatResponse:
        return submit(session_id, body.message, request.headers["Idempotency-Key"])

    @app.get(f"{api}/sessions/{{session_id}}/events")
    async def events(session_id: UUID, request: Request):
        return StreamingResponse(
            _stream(store, session_id, request), media_type="text/event-stream"
        )

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
