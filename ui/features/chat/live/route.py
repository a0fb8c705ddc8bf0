"""The pages' own routes, used by scripts in browsers: events out, messages in.

Events go over a WebSocket rather than an event stream: browsers open at most six HTTP/1.1
connections to one host, and each tab would hold one of them.
"""

import asyncio
import logging
from contextlib import suppress
from uuid import UUID

import httpx
from pydantic import Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from backend.schemas.wire import Wire
from ui.async_api import AsyncApi
from ui.client import ANSWER_LATER, TIMEOUT
from ui.features.chat.live.feed import SessionGone
from ui.features.chat.live.tasks import PageFeed

EVENTS_PATH = "/colloquy/live"
SEND_PATH = "/colloquy/send"
# In the range for applications (RFC 6455, 7.4.2); `live.js` does not reconnect after it.
GONE = 4404
TRY_AGAIN = 1013
KEY_PATTERN = r"^[!-~]{1,255}$"  # a header's text, as browsers make it
MAX_BODY = 16_000_000  # bytes; the API has its own limit, in characters
AWAY = (
    "The service does not answer",
    "Your message is back in the composer. Send it again when the service is available.",
)
log = logging.getLogger(__name__)


class TooLong(Exception):
    """The body is longer than any message may be."""


class SentMessage(Wire):
    """A message from a browser; without a session it begins one, from this domain.

    `team`: whose the new session is, if not the person's own; `model`: the one chosen for it.
    """

    session: UUID | None
    domain: str | None
    model: str | None = None
    team: str | None = None
    text: str
    key: str = Field(pattern=KEY_PATTERN)


class LiveRoutes:
    """Serves all browsers, each as the person who is signed in there."""

    def __init__(self, api: AsyncApi) -> None:
        self._api = api
        self.routes = [
            WebSocketRoute(EVENTS_PATH, self._follow),
            Route(SEND_PATH, self._take, methods=["POST"]),
        ]

    async def _take(self, request: Request) -> Response:
        """Forward a message to the API, and return its response unchanged."""
        try:
            sent = SentMessage.model_validate_json(await _body(request))
        except ValidationError:
            return _problem(
                422, "This message cannot be read", "Reload the page and send it again."
            )
        except TooLong:
            return _problem(413, "This message is too long", "Send it in parts, or as a file.")
        path = f"sessions/{sent.session}/chat" if sent.session else "chat"
        chosen = {"domain": sent.domain, "model": sent.model, "team": sent.team}
        body = {"message": sent.text} | {name: value for name, value in chosen.items() if value}
        headers = {"Idempotency-Key": sent.key, "Prefer": ANSWER_LATER}
        calls = self._api.of(request).calls
        try:
            answer = await calls.post(path, json=body, headers=headers, timeout=TIMEOUT)
        except httpx.TransportError:
            return _problem(503, *AWAY)
        media_type = answer.headers.get("Content-Type", "application/json")
        return Response(answer.content, answer.status_code, media_type=media_type)

    async def _follow(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            session_id = UUID(socket.query_params.get("session", ""))
        except ValueError:
            await socket.close(GONE)
            return
        sending = asyncio.create_task(self._send(socket, session_id))
        try:
            while True:  # a browser sends nothing; this ends when it disconnects
                await socket.receive_text()
        except WebSocketDisconnect:
            pass
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError):
                await sending

    async def _send(self, socket: WebSocket, session_id: UUID) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):  # it disconnected during a send
            try:
                api = self._api.of(socket, is_unattended=True)
                async for frames in PageFeed(api, session_id).frames():
                    await socket.send_json(frames)
            except SessionGone:
                await socket.close(GONE)
            except WebSocketDisconnect:
                raise
            except Exception:
                log.exception("A page's feed failed; the page reconnects")
                await socket.close(TRY_AGAIN)


async def _body(request: Request) -> bytes:
    """Return the body. Raise TooLong."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY:
            raise TooLong
        parts.append(part)
    return b"".join(parts)


def _problem(status: int, title: str, detail: str) -> Response:
    return JSONResponse({"title": title, "detail": detail, "status": status}, status)
