"""The pages' own route by which browsers check whether a page is still current."""

import asyncio
from uuid import UUID

import httpx
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from backend.schemas.conversations.sessions import Session, SessionPage
from backend.schemas.operations.server import ServerInfo
from ui.async_api import AsyncApi
from ui.shared.watch.lists import Listed, Row, calls_of, read_rows
from ui.shared.watch.stamp import LATEST, MOST_PINNED, stamp_of

PATH = "/colloquy/stamp"
NOT_NOW = 503


class Shown(Listed):
    """What a page shows: the open session, the session list, and the page's own list."""

    session: UUID | None = None
    archived: bool = False
    q: str | None = None


def route(api: AsyncApi) -> Route:
    """Return the route for the stamp that a page would have now; 503 while it is unknown."""

    async def tell(request: Request) -> Response:
        try:
            shown = Shown.model_validate(dict(request.query_params))
        except ValidationError:
            return PlainTextResponse("This page is not one of ours.", 422)
        try:
            calls = api.of(request, is_unattended=True).calls
            return PlainTextResponse(await _stamp_now(calls, shown))
        except (httpx.HTTPError, ValidationError):
            return PlainTextResponse("The service does not answer.", NOT_NOW)

    return Route(PATH, tell)


async def _stamp_now(http: httpx.AsyncClient, shown: Shown) -> str:
    """Make the same calls as `ui.shared.watch.component` has made for the page."""
    pinned, latest, server, opened, rows = await asyncio.gather(
        _sessions(http, shown, MOST_PINNED, pinned=True),
        _sessions(http, shown, LATEST, pinned=False),
        http.get("server"),
        _opened(http, shown.session),
        _rows(http, shown),
    )
    info = ServerInfo.read(server.raise_for_status().content)
    return stamp_of([*pinned, *latest], opened, info, rows)


async def _rows(http: httpx.AsyncClient, shown: Listed) -> list[Row]:
    calls = calls_of(shown)
    answers = await asyncio.gather(*(http.get(path, params=params) for path, params in calls))
    parts = zip(calls, answers, strict=True)
    return [
        row
        for (path, _), answer in parts
        for row in read_rows(path, answer.raise_for_status().content)
    ]


async def _sessions(
    http: httpx.AsyncClient, shown: Shown, limit: int, *, pinned: bool
) -> list[Session]:
    query = {"limit": limit, "archived": shown.archived, "pinned": pinned, "q": shown.q}
    params = {name: value for name, value in query.items() if value is not None}
    answer = await http.get("sessions", params=params)
    return SessionPage.read(answer.raise_for_status().content).items


async def _opened(http: httpx.AsyncClient, session: UUID | None) -> Session | None:
    if session is None:
        return None
    answer = await http.get(f"sessions/{session}")
    if answer.status_code in (httpx.codes.NOT_FOUND, httpx.codes.FORBIDDEN):
        # Deleted, or its review has ended: the page differs, and says so when it is drawn again.
        return None
    return Session.read(answer.raise_for_status().content)
