"""How long the API takes to begin its answers, by method, route and kind of status."""

import time

from prometheus_client import CollectorRegistry, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECONDS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)
UNKNOWN = "unknown"  # an address that no route has


class Times:
    """Counts requests by their routes; a stream counts until it begins."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app = app
        self._seconds = Histogram(
            "colloquy_http_seconds",
            "From a request until this API process began its answer.",
            ["method", "route", "status"],
            registry=registry,
            buckets=SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note when its answer begins."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.monotonic()

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", UNKNOWN)
                method = scope["method"] if route != UNKNOWN else UNKNOWN  # anybody may invent one
                kind = f"{message['status'] // 100}xx"
                self._seconds.labels(method, route, kind).observe(time.monotonic() - begun)
            await send(message)

        await self._app(scope, receive, watch)
