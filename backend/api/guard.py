"""What keeps other web sites out of an API that trusts whoever reaches it on loopback."""

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.api.problems import problem

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class LoopbackGuard:
    """Refuses requests under a foreign host name (DNS rebinding) or from a foreign page."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._hosts = LOOPBACK | {host}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Request(scope))
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        if _host_of(f"//{request.headers.get('host', '')}") not in self._hosts:
            detail = "This API answers under its own address only."
            return problem(request, 421, "Unknown host", detail)
        origin = request.headers.get("origin")
        if origin and _host_of(origin) not in self._hosts:
            detail = "Pages of other sites may not use this API."
            return problem(request, 403, "Foreign page", detail)
        return None


def _host_of(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
