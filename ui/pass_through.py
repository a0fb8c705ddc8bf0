"""The API as the component in the browser reads it: passed on, as the person who is signed in.

Behind the gate (`ui.sign_in.gate`), which has replaced whatever a browser says of who it is. Only
reading, and only for our own pages: what tools have made is saved, never shown as a page of ours.
"""

from collections.abc import AsyncIterator

import httpx
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from backend.schemas.people.account import UNATTENDED
from ui.async_api import AsyncApi
from ui.client import TIMEOUT

PREFIX = "/colloquy/api"
# What of the API's answer a browser needs; its own headers are added to ours by nobody.
KEPT = ("content-type", "content-disposition", "content-encoding", "etag", "retry-after")
ASKED = {"accept-encoding": "identity", "if-none-match": None}  # with what holds without it
(MARK,) = UNATTENDED


def route(api: AsyncApi) -> Route:
    """Return the route for all that may be read."""

    async def pass_on(request: Request) -> Response:
        site = request.headers.get("sec-fetch-site", "same-origin")
        if site != "same-origin":
            return _problem(403, "This is no page of ours", "Open the page itself.")
        path = _path_of(request)
        if path is None:
            return _problem(404, "Not found", "There is nothing at this address.")
        caller = api.of(request, is_unattended=MARK in request.headers)
        given = {name: request.headers.get(name, other) for name, other in ASKED.items()}
        asked = {name: value for name, value in given.items() if value is not None}
        url = httpx.URL(path, query=request.url.query.encode())
        try:
            made = caller.calls.build_request("GET", url, headers=asked, timeout=TIMEOUT)
            answer = await caller.calls.send(made, stream=True)
        except httpx.TransportError:
            return _problem(503, "The service does not answer", "This page reconnects by itself.")
        headers = {name: answer.headers[name] for name in KEPT if name in answer.headers}
        return StreamingResponse(
            _body(answer), answer.status_code, headers, background=BackgroundTask(answer.aclose)
        )

    return Route(f"{PREFIX}/{{path:path}}", pass_on, methods=["GET"])


def _path_of(request: Request) -> str | None:
    """Return the path below the API's root, as it was sent; None if it would lead out of there."""
    raw = request.scope.get("raw_path", request.url.path.encode()).decode("latin-1")
    path = raw.partition("?")[0].removeprefix(f"{PREFIX}/")
    parts = httpx.URL(path).path.replace("\\", "/").split("/")
    leads_out = "://" in path or any(one in ("", ".", "..") for one in parts)
    return None if leads_out else path


async def _body(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.aiter_raw():
            yield piece
    finally:
        await answer.aclose()


def _problem(status: int, title: str, detail: str) -> Response:
    body = {"title": title, "detail": detail, "status": status}
    return JSONResponse(body, status, media_type="application/problem+json")
