"""The server itself: alive, ready, measured; and what a page must know of it."""

from fastapi import APIRouter, Request, Response
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from backend.api.dependencies import ScopeDep, ServicesDep
from backend.api.metrics import CONTENT_TYPE, write_metrics
from backend.auth.scope import Scope
from backend.schemas.sessions import ServerInfo
from backend.turns.inbox import count_pending
from backend.turns.presence import count_workers
from backend.turns.services import Services

root = APIRouter(tags=["server"])
router = APIRouter(tags=["server"])


@root.get("/healthz")
def healthz() -> dict[str, str]:
    """The process is alive."""
    return {"status": "alive"}


@root.get("/readyz")
def readyz(response: Response, services: ServicesDep) -> dict[str, str]:
    """Database, Redis and at least one worker are there: 200, else 503 and what is missing."""
    checks = check_parts(services)
    if any(state != "ok" for state in checks.values()):
        response.status_code = 503
    return checks


@root.get("/metrics")
def metrics(request: Request, services: ServicesDep) -> Response:
    """Figures for Prometheus."""
    body = write_metrics(services, request.app.state.problems)
    return Response(body, media_type=CONTENT_TYPE)


@router.get("/server")
def server(services: ServicesDep, scope: ScopeDep) -> ServerInfo:
    """Who asks, which model answers, and whether anybody works."""
    settings = services.settings
    checks = check_parts(services)
    return ServerInfo(
        user=scope.user_id,
        is_admin=scope.is_admin,
        model=settings.default_model,
        is_demo_model=settings.uses_demo_model,
        ready=all(state == "ok" for state in checks.values()),
        workers=_workers(services),
        missing=[part for part, state in checks.items() if state != "ok"],
        pending_approvals=_pending(services, scope),
    )


def check_parts(services: Services) -> dict[str, str]:
    """The state of each part: ok, or why not."""
    return {
        "database": _database(services),
        "redis": _redis(services),
        "worker": "ok" if _workers(services) else "no live worker: start one with `make worker`",
    }


def _database(services: Services) -> str:
    try:
        services.database.ping()
    except SQLAlchemyError as error:
        return f"does not answer or is not migrated ({type(error).__name__})"
    return "ok"


def _pending(services: Services, scope: Scope) -> int:
    try:
        with services.database.read() as session:
            return count_pending(session, scope, everyone=False)
    except SQLAlchemyError:
        return 0


def _redis(services: Services) -> str:
    try:
        services.redis.ping()
    except RedisError as error:
        return f"does not answer ({type(error).__name__})"
    return "ok"


def _workers(services: Services) -> int:
    try:
        return count_workers(services.redis)
    except RedisError:
        return 0
