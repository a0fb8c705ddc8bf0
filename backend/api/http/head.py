"""HEAD, wherever there is GET: the same answer without its body (RFC 9110, 9.3.2)."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """Lets HEAD reach the routes of GET; nobody has to write them twice."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; of the answer to HEAD only what stands before its body."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_start(message: Message) -> None:
            # To end the answer here ends streams, too, which would go on for as long as one reads.
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body"})

        await self._app({**scope, "method": "GET"}, receive, send_start)
