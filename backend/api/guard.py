"""What keeps other web sites out of an API that trusts whoever reaches it on loopback."""

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.api.problems import problem

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_BODY_BYTES = 16_000_000


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
        request = Request(scope)
        refusal = self._refusal(request)
        if refusal is None:
            await self._app(scope, receive, send)
            return
        status, title, detail = refusal
        await problem(request, status, title, detail)(scope, receive, send)

    def _refusal(self, request: Request) -> tuple[int, str, str] | None:
        host = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
        if host not in self._hosts:
            return 421, "Unknown host", "This API answers under its own address only."
        origin = request.headers.get("origin")
        if origin and urlsplit(origin).hostname not in self._hosts:
            return 403, "Foreign page", "Pages of other sites may not use this API."
        length = request.headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            return 413, "Body too large", f"A request has at most {MAX_BODY_BYTES:,} bytes."
        return None
