"""The pages' own event route: a WebSocket of a browser, behind which a feed follows the API.

A WebSocket and no event stream: a browser opens six connections to one address over HTTP/1.1, and
each tab would hold one of them.
"""

import asyncio
import logging
import os
from contextlib import suppress
from uuid import UUID

import httpx
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ui.client import DEFAULT_API_URL
from ui.features.chat.live.feed import Feed, SessionGone

PATH = "/colloquy/live"
# Of the range that RFC 6455, 7.4.2 leaves to applications; `live.js` does not come back after it.
GONE = 4404
TRY_AGAIN = 1013
log = logging.getLogger(__name__)


class LiveRoute:
    """Serves all browsers with one HTTP client, which is made with the first of them."""

    def __init__(self) -> None:
        self.route = WebSocketRoute(PATH, self._serve)
        self._http: httpx.AsyncClient | None = None

    async def _serve(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            session_id = UUID(socket.query_params.get("session", ""))
        except ValueError:
            await socket.close(GONE)
            return
        sending = asyncio.create_task(self._send(socket, session_id))
        try:
            while True:  # a browser says nothing; this ends when it goes
                await socket.receive_text()
        except WebSocketDisconnect:
            pass
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError):
                await sending

    async def _send(self, socket: WebSocket, session_id: UUID) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):  # it went while something was sent
            try:
                async for frames in Feed(self._client(), session_id).frames():
                    await socket.send_json(frames)
            except SessionGone:
                await socket.close(GONE)
            except Exception:
                log.exception("A page's feed broke; the page comes back")
                await socket.close(TRY_AGAIN)

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            url = (os.environ.get("API_URL") or DEFAULT_API_URL).rstrip("/")
            self._http = httpx.AsyncClient(
                base_url=f"{url}/api/v1/", limits=httpx.Limits(max_connections=None)
            )
        return self._http
