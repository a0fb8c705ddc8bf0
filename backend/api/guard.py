"""How long a request's body may be."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.api.problems import MAX_BODY_BYTES, TOO_LARGE, too_large


class BodyLimit:
    """Refuses bodies that are too long, whether or not they say so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Request(scope))
        await (refusal or self._app)(scope, _counted(receive), send)

    def _refusal(self, request: Request) -> Response | None:
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            return too_large(request)
        return None


def _counted(receive: Receive) -> Receive:
    """The same, to the end of what a body may have: not all of them say their length."""
    left = MAX_BODY_BYTES

    async def receive_counted() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(TOO_LARGE)
        return message

    return receive_counted
