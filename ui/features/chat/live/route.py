"""The pages' own routes, which browsers use by themselves: what happens, and what people send.

What happens goes over a WebSocket and no event stream: a browser opens six connections to one
address over HTTP/1.1, and each tab would hold one of them.
"""

import asyncio
import logging
from contextlib import suppress
from uuid import UUID

import httpx
from pydantic import ValidationError
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
# Of the range that RFC 6455, 7.4.2 leaves to applications; `live.js` does not come back after it.
GONE = 4404
TRY_AGAIN = 1013
MAX_BODY = 16_000_000  # bytes; the API has its own bound, in words
AWAY = (
    "The service does not answer",
    "Your message is in the composer again. Send it when the service is back.",
)
log = logging.getLogger(__name__)


class TooLong(Exception):
    """A body is longer than any message may be."""


class SentMessage(Wire):
    """What a browser sends: without a session it begins one, of this domain.

    `model` is the one that was chosen for it, if one was.
    """

    session: UUID | None
    domain: str | None
    model: str | None = None
    text: str
    key: str


class LiveRoutes:
    """Serves all browsers with one HTTP client."""

    def __init__(self, api: AsyncApi) -> None:
        self._api = api
        self.routes = [
            WebSocketRoute(EVENTS_PATH, self._follow),
            Route(SEND_PATH, self._take, methods=["POST"]),
        ]

    async def _take(self, request: Request) -> Response:
        """Hand a message to the API, and its answer back as it is."""
        try:
            sent = SentMessage.model_validate_json(await _body(request))
        except ValidationError:
            return _problem(
                422, "This message cannot be read", "Reload the page and send it again."
            )
        except TooLong:
            return _problem(413, "This message is too long", "Send it in parts, or as a file.")
        path = f"sessions/{sent.session}/chat" if sent.session else "chat"
        chosen = {"domain": sent.domain, "model": sent.model}
        body = {"message": sent.text} | {name: said for name, said in chosen.items() if said}
        headers = {"Idempotency-Key": sent.key, "Prefer": ANSWER_LATER}
        try:
            answer = await self._api.client().post(
                path, json=body, headers=headers, timeout=TIMEOUT
            )
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
                async for frames in PageFeed(self._api.client(), session_id).frames():
                    await socket.send_json(frames)
            except SessionGone:
                await socket.close(GONE)
            except Exception:
                log.exception("A page's feed broke; the page comes back")
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
