"""The API as the component in the browser uses it: passed on, as the person who is signed in.

Behind the gate (`ui.sign_in.gate`), which has replaced whatever a browser says of who it is. For
our own pages only. They upload, and change only what a conversation has: what tools have made is
saved, never shown as a page of ours, and whatever else is changed, other pages change.
"""

from collections.abc import AsyncIterator

import httpx
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from backend.logs.fields import request_id
from backend.schemas.people.account import UNATTENDED
from ui.async_api import AsyncApi
from ui.client import BROWSERS_API, TIMEOUT, UPLOADING
from ui.sign_in.gate import PERSON_HEADER

READING = ("GET", "HEAD")
CHANGING = ("POST", "PUT", "PATCH", "DELETE")
# What a conversation changes, by the first part of the path. Not people, tokens or domains: a
# script that got into a conversation must not make itself an administrator.
CHANGED = frozenset({"approvals", "chat", "files", "images", "sessions", "tasks", "turns"})
UPLOADED = frozenset({"imports"})  # and nothing below: what is in it is imported by the page
(MARK,) = UNATTENDED
# What of a request reaches the API, with what holds without it. Not what says who asks.
ASKED = {"accept-encoding": "identity", "accept": None, "if-none-match": None, MARK.lower(): None}
SENT = (
    "content-type", "content-length", "content-encoding", "idempotency-key", "if-match", "prefer",
)  # fmt: skip
# What of the API's answer a browser needs; its own headers are added to ours by nobody.
KEPT = (
    "content-type", "content-length", "content-disposition", "content-encoding", "etag", "location",
    "retry-after",
)  # fmt: skip
AWHILE = httpx.Timeout(10.0, connect=3.0)  # for what a page asks by itself: it says what it misses
FORM = "multipart/form-data"
MOST_HELD = 100_000  # bytes of a body
PAGE_OF = "colloquy-person"  # whose page asks: the browser may be another person's by now
FOREIGN = (403, "This is no page of ours", "Open the page itself.")
NOWHERE = (404, "Not found", "There is nothing at this address.")
ELSEWHERE = (403, "Not from a conversation", "This is changed on its own page.")
ANOTHERS = (401, "This page is another person's", "Reload it, to see your own.")
AWAY = (503, "The service does not answer", "This page reconnects by itself.")


def route(api: AsyncApi) -> Route:
    """Return the route for all that may be read, and for what a conversation may change."""

    async def pass_on(request: Request) -> Response:
        is_change = request.method not in READING
        if not (_is_own_page(request) if is_change else _is_no_other_page(request)):
            return _problem(*FOREIGN)
        if request.headers.get(PAGE_OF) not in (None, request.headers.get(PERSON_HEADER, "")):
            return _problem(*ANOTHERS)
        path = _path_of(request)
        if path is None:
            return _problem(*NOWHERE)
        if is_change and path.path.split("/")[0] not in CHANGED and path.path not in UPLOADED:
            return _problem(*ELSEWHERE)
        try:
            return await _ask(api, request, path, is_change)
        except httpx.TransportError:
            return _problem(*AWAY)
        except ClientDisconnect:  # in the middle of what it sends: the API has been left, too
            return Response(status_code=400)

    return Route(f"{BROWSERS_API}/{{path:path}}", pass_on, methods=[*READING, *CHANGING])


async def _ask(api: AsyncApi, request: Request, path: httpx.URL, is_change: bool) -> Response:
    """Send the request, its body as it arrives; return the answer, its body likewise."""
    caller = api.of(request)
    given = {name: request.headers.get(name, other) for name, other in ASKED.items()}
    if is_change:
        given |= {name: request.headers.get(name) for name in SENT}
    made = caller.calls.build_request(
        request.method,
        path,
        headers={name: value for name, value in given.items() if value is not None},
        content=await _body_of(request) if is_change and _has_body(request) else None,
        timeout=_patience(given),
    )
    answer = await caller.calls.send(made, stream=True)
    headers = {name: answer.headers[name] for name in KEPT if name in answer.headers}
    return StreamingResponse(
        _body(answer), answer.status_code, headers, background=BackgroundTask(answer.aclose)
    )


def _patience(given: dict[str, str | None]) -> httpx.Timeout:
    if given.get(MARK.lower()):
        return AWHILE
    return UPLOADING if FORM in (given.get("content-type") or "") else TIMEOUT


def _is_no_other_page(request: Request) -> bool:
    return request.headers.get("sec-fetch-site", "same-origin") == "same-origin"


def _is_own_page(request: Request) -> bool:
    """Return whether a page of this very address asks; browsers say so of each change.

    In a network without https they leave `Sec-Fetch-Site` out, never the origin.
    """
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return _is_no_other_page(request) and request.headers.getlist("origin") == [own]


async def _body_of(request: Request) -> bytes | AsyncIterator[bytes]:
    """Return the body as it arrives, or whole: what is done once may be sent to another server."""
    length = request.headers.get("content-length", "")
    is_short = length.isdecimal() and int(length) <= MOST_HELD
    is_once = "idempotency-key" in request.headers
    return await request.body() if is_once and is_short else request.stream()


def _has_body(request: Request) -> bool:
    has_length = request.headers.get("content-length", "0") != "0"
    return has_length or "transfer-encoding" in request.headers


def _path_of(request: Request) -> httpx.URL | None:
    """Return what is asked below the API's root, as it was sent; None if it would lead out."""
    raw = request.scope.get("raw_path", request.url.path.encode()).decode("latin-1")
    path = raw.partition("?")[0].removeprefix(f"{BROWSERS_API}/")
    try:
        url = httpx.URL(path, query=request.url.query.encode())
    except httpx.InvalidURL:
        return None
    parts = url.path.replace("\\", "/").split("/")
    leads_out = "://" in path or url.scheme or any(one in ("", ".", "..") for one in parts)
    return None if leads_out else url


async def _body(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.aiter_raw():
            yield piece
    finally:
        await answer.aclose()


def _problem(status: int, title: str, detail: str) -> Response:
    body = {"title": title, "detail": detail, "status": status, "request_id": request_id()}
    return JSONResponse(body, status, media_type="application/problem+json")
