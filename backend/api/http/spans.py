"""A span for each request that this API process answers, where traces are sent."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.logs.fields import add_fields, request_id
from backend.telemetry.spans import Kind
from backend.telemetry.tracing import span, trace_id

SERVER_ERROR = 500


class Spans:
    """Traces requests by their routes; a stream until it begins.

    The address itself may hold what nobody else may read: tokens of links, words searched for.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on within a span, which continues the trace that the request names."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        known = {"colloquy.request.id": request_id()}
        with span("HTTP", known, Kind.SERVER, Headers(scope=scope)) as traced:
            add_fields(trace=trace_id())

            async def watch(message: Message) -> None:
                if message["type"] == "http.response.start":
                    status = message["status"]
                    traced.note({"http.response.status_code": status})
                    if route := getattr(scope.get("route"), "path", None):
                        method = scope["method"]  # elsewhere anybody may invent one
                        traced.rename(f"{method} {route}")
                        traced.note({"http.request.method": method, "http.route": route})
                    if status >= SERVER_ERROR:
                        traced.fail(str(status))
                    traced.end()
                await send(message)

            await self._app(scope, receive, watch)
