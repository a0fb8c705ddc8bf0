"""Request ids: one name for what a request causes in all the processes that take part in it.

The place in a trace that a proxy has given to a request goes along.
"""

import re
from collections.abc import Mapping
from contextvars import ContextVar
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.logs.fields import only_fields, request_id
from backend.web.headers import STARTS

HEADER = "X-Request-ID"
# What proxies send; nothing that a log or a page would have to escape.
ACCEPTED = re.compile(r"[A-Za-z0-9._:+/=@-]{1,100}")
TRACEPARENT = "traceparent"  # of the W3C
PLACE = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_PLACE: ContextVar[str | None] = ContextVar("place", default=None)


def new_id() -> str:
    """Return an id that no other request has."""
    return uuid4().hex


def naming() -> Mapping[str, str]:
    """Return the headers that name the current request to another server, if there is one."""
    found = {HEADER: request_id(), TRACEPARENT: _PLACE.get()}
    return {name: value for name, value in found.items() if value}


class RequestIds:
    """Gives each request the id that it brings, or a new one; its answer and its records have it.

    Outermost, so that refusals have it, too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on under its id."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        name = _id_in(scope)

        async def send_with_id(message: Message) -> None:
            if message["type"] in STARTS:
                MutableHeaders(scope=message)[HEADER] = name
            await send(message)

        # What comes through a socket for hours is not part of the trace in which it was opened.
        place = _PLACE.set(_place_in(scope) if scope["type"] == "http" else None)
        try:
            with only_fields(request=name):
                await self._app(scope, receive, send_with_id)
        finally:
            _PLACE.reset(place)


def _id_in(scope: Scope) -> str:
    """Return the id that a request brings; a new one if it brings several, or one of other form."""
    given = Headers(scope=scope).getlist(HEADER)
    return given[0] if len(given) == 1 and ACCEPTED.fullmatch(given[0]) else new_id()


def _place_in(scope: Scope) -> str | None:
    given = Headers(scope=scope).getlist(TRACEPARENT)
    return given[0] if len(given) == 1 and PLACE.fullmatch(given[0]) else None
