"""The server itself: liveness, readiness, metrics, and what pages need to know of it."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from backend.api.dependencies import ReadScope, ServicesDep, of_app
from backend.api.http.threads import Shared
from backend.api.metrics import CONTENT_TYPE
from backend.approvals.inbox import count_pending
from backend.auth.scope import Scope
from backend.connections.store import AnsweringModel, find_default_model
from backend.logs.outages import DATABASE, REDIS, while_away
from backend.operations.workers import list_workers
from backend.redis.connecting import say_why
from backend.schemas.operations.server import Readiness, ServerInfo
from backend.schemas.operations.work import WorkerInfo
from backend.schemas.people.rights import Permission
from backend.schemas.usage import DayBudget
from backend.storage.belonging import find_installation, owns_redis
from backend.tools.mcp.version_board import count_waiting
from backend.turns.process.services import Services
from backend.usage.day_rows import own_budgets
from db.schema import newer_text
from db.session import Database, ReadOnlyDatabase

root = APIRouter(tags=["server"])
router = APIRouter(tags=["server"])
OK, NOT_OK, STOPPING = "ok", "not ok", "stopping"
CHECK_SECONDS = 4.0
NAMED = 10
NOT_READY: dict[int | str, dict[str, Any]] = {
    "503": {"model": Readiness, "description": "A part is missing; the states say why."}
}
# What an outage says as well; that no worker is there, nobody else says.
PARTS_AWAY = {"database": while_away(DATABASE), "redis": while_away(REDIS)}
T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Parts:
    """The state of each part, ok or the problem; and how many workers are alive.

    `missing`: the parts that are unavailable. Workers that are stalled or older than the database
    are reported, but the server counts as ready while at least one worker is neither.
    """

    states: Readiness
    workers: int
    missing: Sequence[str]

    @property
    def are_ready(self) -> bool:
        """Whether all parts are available."""
        return not self.missing


class PartsCheck:
    """Checks the parts for all requests that need it at the same time.

    A check that hangs, on a connection that is kept alive but not answered, is not waited for.
    """

    def __init__(self, services: Services, seconds: float = CHECK_SECONDS) -> None:
        self._seconds = seconds
        self._database = Shared(partial(_database, services.database))
        self._redis = Shared(partial(_redis, services))
        self._is_told = False  # that the database's schema is newer
        self._unwell: set[str] = set()  # the parts that the log has named, and not as well again

    async def get(self) -> Parts:
        """Return the state of each part, within `seconds`."""
        late = f"does not answer within {self._seconds:g} seconds"
        (database, api), (redis, workers) = await asyncio.gather(
            self._within(self._database, (late, OK)), self._within(self._redis, (late, ()))
        )
        if api != OK and not self._is_told:
            self._is_told = True
            log.error("The API goes on. %s", api)
        states = Readiness(api=api, database=database, redis=redis, worker=_say_of(workers))
        missing = [part for part, state in states if state != OK and part != "api"]
        if not all(worker.is_stalled or worker.obstacle for worker in workers):
            missing = [part for part in missing if part != "worker"]
        return Parts(states, len(workers), missing)

    def without_reasons(self, states: Readiness) -> Readiness:
        """Return the states as strangers may know them, and log the reasons that are new."""
        told = {part: state if state in (OK, STOPPING) else NOT_OK for part, state in states}
        unwell = {part for part, state in told.items() if state == NOT_OK}
        for part, state in states:
            if part in unwell - self._unwell:
                log.warning("%s: %s", part, state, extra=PARTS_AWAY.get(part))
        for part in self._unwell - unwell:
            log.warning("%s: ok", part)
        self._unwell = unwell
        return Readiness(**told)

    async def _within(self, check: Shared[T], late: T) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                return await check.get()
        except TimeoutError:
            return late


PartsDep = Annotated[PartsCheck, of_app("parts")]
StoppingDep = Annotated[asyncio.Event, of_app("stopping")]


@root.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process is alive."""
    return {"status": "alive"}


@root.get("/readyz", responses=NOT_READY)
async def readyz(
    response: Response, services: ServicesDep, parts_of: PartsDep, stopping: StoppingDep
) -> Readiness:
    """200 if the database, Redis and a worker that is not stalled are available, else 503.

    503 also when this process is about to end: send requests to another one. One that is older than
    the database serves on and says so.

    Once there are accounts it only says of each part whether it is ok; the log says why not.
    """
    parts = await parts_of.get()
    states = parts.states
    if stopping.is_set():
        states = states.model_copy(update={"api": STOPPING})
    if stopping.is_set() or not parts.are_ready:
        response.status_code = 503
    return parts_of.without_reasons(states) if services.settings.has_accounts else states


@root.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request, scope: ReadScope) -> Response:
    """Metrics for Prometheus; once there are accounts, for tokens of administrators."""
    scope.require(Permission.SEE_WORK)
    written: Shared[bytes] = request.app.state.metrics
    return Response(await written.get(), media_type=CONTENT_TYPE)


@router.get("/server")
async def server(services: ServicesDep, scope: ReadScope, parts_of: PartsDep) -> ServerInfo:
    """The caller, the model that answers, and whether workers are running."""
    settings = services.settings
    parts = await parts_of.get()
    of_caller = await run_in_threadpool(_read, services, scope)
    return ServerInfo(
        user=scope.user_id,
        name=scope.name or scope.user_id,
        has_accounts=settings.has_accounts,
        permissions=sorted(scope.permissions),
        model=of_caller.answering.model,
        is_demo_model=of_caller.answering.is_demo,
        ready=parts.are_ready,
        workers=parts.workers,
        missing=parts.missing,
        pending_approvals=of_caller.approvals,
        pending_tools=of_caller.tools,
        low_budgets=of_caller.low_budgets,
        max_file_mb=settings.max_file_mb,
        max_import_mb=settings.max_import_mb,
    )


def _database(database: Database) -> tuple[str, str]:
    """Return the state of the database, and of this process beside its schema.

    A newer schema has only additions, so this process may serve until it is replaced.
    """
    try:
        database.ping()
        newer = database.find_newer_schema()
    except ReadOnlyDatabase:
        return "accepts no writes: it is a standby, or set to read-only", OK
    except SQLAlchemyError as error:
        return f"does not answer or is not migrated ({type(error).__name__})", OK
    return OK, newer_text(newer) if newer else OK


def _redis(services: Services) -> tuple[str, Sequence[WorkerInfo]]:
    """Return the state of Redis, and the workers registered in it."""
    redis = services.status_redis
    try:
        with suppress(SQLAlchemyError):
            if not owns_redis(redis, find_installation(services.database)):
                return "is used by another installation: see REDIS_URL", ()
        return OK, list_workers(redis)
    except RedisError as error:
        return say_why(error), ()


def _say_of(workers: Sequence[WorkerInfo]) -> str:
    """Return the state of the workers in words, with the names of stalled ones."""
    if not workers:
        return "no live worker: start one with `make worker`"
    stalled = [worker for worker in workers if worker.is_stalled]
    if not stalled:
        return _say_of_obstacles(workers)
    names = ", ".join(f"{one.name} ({one.loop_silence_seconds:.0f} s)" for one in stalled[:NAMED])
    noun = "worker stalled; its" if len(workers) == 1 else "workers stalled; their"
    return (
        f"{len(stalled)} of {len(workers)} {noun} turns wait: {names}."
        " Such a worker ends by itself after a minute; look at its log, or kill it."
    )


def _say_of_obstacles(workers: Sequence[WorkerInfo]) -> str:
    held = [worker for worker in workers if worker.obstacle]
    if not held:
        return OK
    names = ", ".join(worker.name for worker in held[:NAMED])
    return f"{len(held)} of {len(workers)} take no turns: {names}. {held[0].obstacle}"


class _OfCaller(NamedTuple):
    """The model that answers, and what waits for the caller or runs out."""

    answering: AnsweringModel
    approvals: int = 0
    tools: int = 0
    low_budgets: list[DayBudget] = []


def _read(services: Services, scope: Scope) -> _OfCaller:
    """Return what the database knows; without it, defaults."""
    settings = services.settings
    try:
        with services.database.read() as session:
            approvals = count_pending(session, scope, everyone=False)
            tools = count_waiting(session, scope)
            low = [one for one in own_budgets(session, settings, scope) if one.is_low]
            return _OfCaller(find_default_model(session, settings), approvals, tools, low)
    except SQLAlchemyError:
        return _OfCaller(AnsweringModel(settings.default_model, settings.uses_demo_model))
