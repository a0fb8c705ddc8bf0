"""Errors as RFC 9457 problem details; the only place where exceptions become responses."""

import logging
import sys
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from psycopg2.errors import DiskFull
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from backend.errors.base import AppError, DatabaseFull, DatabaseUnavailable
from backend.logs.fields import request_id
from backend.logs.outages import DATABASE, while_away
from backend.schemas.conversations.sessions import Problem
from backend.text import counted, listed
from colloquy_kit.messages.clean import clean_text

MEDIA_TYPE = "application/problem+json"
TOO_LARGE = 413
NOT_FOUND = 404
NOT_ALLOWED = 405
NOT_SIGNED_IN = 401
METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
CLIENT_LEFT = 499  # as nginx counts them
UNREADABLE = 400  # FastAPI's answer to a body whose bytes it cannot decode
UNREADABLE_BODY = (
    "The body cannot be read. Send JSON in UTF-8, with numbers of at most"
    f" {sys.get_int_max_str_digits():,} digits."
)
MOST_FAULTS = 20
LONGEST_FAULT = 500
CLOSE = {"Connection": "close"}
_NO_OBJECT = ("model_attributes_type", "model_type", "dict_type")  # Pydantic's names
TITLES = {
    404: "Not found",
    405: "Method not allowed",
    422: "Invalid input",
    503: "Busy",
}
log = logging.getLogger(__name__)

PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "model": Problem,
        "description": "What is wrong and what to do; nothing was changed. For every call: 403 for"
        " pages of other sites, 413 and 415 for bodies that are too large or of an unsupported"
        " type, 421 for an unknown host, 429 (with Retry-After) for too many requests by one"
        " person.",
    },
    422: {
        "model": Problem,
        "description": "The input is invalid, or has a parameter or field that this call does not"
        " know; nothing was changed.",
    },
    "503": {
        "model": Problem,
        "description": "The database does not answer, or the server is overloaded: try"
        " again after Retry-After.",
    },
}


def problem(
    request: Request, status: int, title: str, detail: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """Return an error as the client receives it, and count it for the metrics."""
    request.app.state.problems[status] += 1
    # It may quote the input, in which an unpaired surrogate could not be encoded.
    detail = clean_text(detail)
    # As it was sent: decoded, it would be no URI reference.
    address = quote(request.scope["raw_path"], safe="/%:@!$&'()*+,;=")
    body = Problem(
        title=title, status=status, detail=detail, instance=address, request_id=request_id()
    )
    return JSONResponse(body.model_dump(), status, headers, media_type=MEDIA_TYPE)


def add_problem_handlers(app: FastAPI) -> None:
    """Make every error leave the API as problem details."""
    app.add_exception_handler(AppError, _app_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ClientDisconnect, _client_left)
    app.add_exception_handler(SQLAlchemyError, _database)
    app.add_exception_handler(Exception, _unexpected)


def _app_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AppError)  # noqa: S101  (registered for it)
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after else {}
    if error.status == NOT_SIGNED_IN:
        headers["WWW-Authenticate"] = "Bearer"  # RFC 9110, 11.6.1
    request.app.state.refusals.note(request, error.status, error.title)
    return problem(request, error.status, error.title, error.detail, headers)


def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101  (registered for it)
    if request.path_params and _methods_at(request):
        # The address is another route's, and only looks like one with an id.
        return _not_allowed(request)
    faults = error.errors()
    sentences = [_of_body(request, fault) or _sentence(fault) for fault in faults[:MOST_FAULTS]]
    if len(faults) > MOST_FAULTS:
        sentences.append(f"and {len(faults) - MOST_FAULTS:,} more")
    return problem(request, 422, "Invalid input", "; ".join(sentences))


def _of_body(request: Request, fault: Any) -> str | None:
    """Return what is wrong with a body that is not an object of JSON at all."""
    if fault["type"] == "json_invalid":
        return f"The body is not valid JSON ({fault['ctx']['error']}). Correct it and send it again"
    if fault["loc"] != ("body",):
        return None
    if fault["type"] == "missing":
        return "The body is missing. Send a JSON object"
    if "json" not in request.headers.get("content-type", "").lower():
        return "The body is not marked as JSON. Send it with Content-Type: application/json"
    return "The body must be a JSON object" if fault["type"] in _NO_OBJECT else None


def _sentence(fault: Any) -> str:
    where = ".".join(str(part) for part in fault["loc"] if part != "body")
    message = _length_of_text(fault) or str(fault["msg"]).removeprefix("Value error, ")
    return (f"{where}: {message}" if where else message)[:LONGEST_FAULT]


def _length_of_text(fault: Any) -> str | None:
    """Return why a text's length is wrong: Pydantic counts items where a validator comes first."""
    if fault["type"] not in ("too_short", "too_long") or not isinstance(fault["input"], str):
        return None
    least, most = (fault["ctx"].get(name) for name in ("min_length", "max_length"))
    bound, count = ("least", least) if most is None else ("most", most)
    return f"this must have at {bound} {counted(count, 'character')}"


def too_large(request: Request) -> JSONResponse:
    """Return the refusal of a body that is too large; the rest of it is not read."""
    most = request.scope["colloquy.body"].bound.size
    detail = f"A body may have at most {most:,} bytes here. Send less, or upload a file."
    return problem(request, TOO_LARGE, "Body too large", detail, CLOSE)


def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101  (registered for it)
    if error.status_code == TOO_LARGE:
        return too_large(request)
    if error.status_code == UNREADABLE:
        return problem(request, 422, TITLES[422], UNREADABLE_BODY)
    if error.status_code == NOT_ALLOWED:
        return _not_allowed(request)
    headers = dict(error.headers) if error.headers else None
    title, detail = TITLES.get(error.status_code, "Error"), str(error.detail)
    if error.status_code == NOT_FOUND:
        detail = "There is nothing at this address. /api/openapi.json lists all calls."
    return problem(request, error.status_code, title, detail, headers)


def _not_allowed(request: Request) -> JSONResponse:
    allowed = _methods_of(request)
    headers, detail = {"Allow": ", ".join(allowed)}, f"This address takes {listed(allowed)}."
    return problem(request, NOT_ALLOWED, TITLES[NOT_ALLOWED], detail, headers)


def _client_left(request: Request, _: Exception) -> Response:
    """Answer nobody: the client closed its connection before its body had arrived."""
    request.app.state.problems[CLIENT_LEFT] += 1
    return Response(status_code=CLIENT_LEFT)


def _methods_of(request: Request) -> list[str]:
    """Return the methods of an address; the router names only those of the first route that fits.

    HEAD goes wherever GET does (RFC 9110, 9.3.2).
    """
    fitting = _methods_at(request) or [
        method
        for method in METHODS
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL
            for route in request.app.routes
        )
    ]
    return sorted([*fitting, "HEAD"] if "GET" in fitting else fitting)


def _methods_at(request: Request) -> list[str]:
    """Return the methods of routes that have exactly this address, with no id in it."""
    paths = request.app.openapi()["paths"]
    return [method.upper() for method in paths.get(request.scope["path"], ())]


def _database(request: Request, error: Exception) -> JSONResponse:
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    if isinstance(error, OperationalError | PoolTimeout) or lost:
        reason = str(error).splitlines()[0]
        log.warning("The database does not answer: %s", reason, extra=while_away(DATABASE))
        is_full = isinstance(error, DBAPIError) and isinstance(error.orig, DiskFull)
        return _app_error(request, DatabaseFull() if is_full else DatabaseUnavailable())
    return _unexpected(request, error)


def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    # The server closes the connection after an unexpected error, and the header announces that.
    place = f" under the request {found}" if (found := request_id()) else ""
    detail = f"The API's log has the details{place}. Try again."
    return problem(request, 500, "Unexpected error", detail, CLOSE)
