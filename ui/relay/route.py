"""The relay: the API's events of the sessions that a tab follows, over one WebSocket.

A WebSocket rather than event streams: browsers open at most six HTTP/1.1 connections to one host,
and each tab would hold one for each session.

A browser sends, and may send again for the same session, which then begins anew:

| sent | effect |
|---|---|
| `{"follow": SESSION, "after": ID}` | tells what follows the event with this id; null: from the beginning of the active turn on, if there is one |
| `{"leave": SESSION}` | nothing more of this session is told |

It is sent arrays of these, at most one array every 30 ms while text streams, the first at once:

| sent | meaning |
|---|---|
| `{"session", "event", "data", "id"}` | an event of the API (`backend/schemas/events.py`) |
| `[MS, TEXT]` | the next piece of the message of what was told just before, so many milliseconds later: its id is that one's, with these added to the number before its hyphen |
| `{"session", "state": "back", "after": ID}` | the stream is open, also for the first time, after this event. Null: what has streamed of the active turn comes again from its beginning, and of an idle session something may have been missed |
| `{"session", "state": "away"}` | the service does not answer; it is tried again |
| `{"session", "state": "gone"}` | the session does not exist for this person (any more); the end |

`text_delta` and `thinking_delta` that follow each other are joined, with the id of the last. Their
`context` has `turn_id` and `agent_id` only: `session` says the rest. So that an answer that streams
takes little more than its text, a piece that continues what was told is told as `[MS, TEXT]`.
Nothing else is decided here.

Its address says whose page it is: `?person=`. The socket closes with 4401 if that is another person
than the one who is signed in, or when the sign-in has ended, and with 1013 if something fails.
"""  # noqa: E501

import asyncio
import logging
from contextlib import suppress

from pydantic import Field, TypeAdapter, ValidationError
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from backend.schemas.wire import Input
from ui.async_api import AsyncApi, CallersApi
from ui.relay.follower import Follower, SignedOut
from ui.relay.outbox import Outbox, Writer
from ui.sign_in.gate import ENDED, PERSON_HEADER

PATH = "/colloquy/live"
JOIN_SECONDS = 0.03
MOST_FOLLOWED = 32  # sessions of one tab: the open one, and running tasks of its plans
MOST_CHARS = 1_000  # of what a browser sends
NOT_UNDERSTOOD = 1008
TRY_AGAIN = 1013
SESSION = r"^[A-Za-z0-9_-]{1,60}$"
log = logging.getLogger(__name__)


class Follow(Input):
    """A browser begins to follow a session, or goes on."""

    follow: str = Field(pattern=SESSION)
    after: str | None = Field(None, max_length=200, pattern="^[!-~]+$")


class Leave(Input):
    """A browser follows a session no longer."""

    leave: str = Field(pattern=SESSION)


ASKED: TypeAdapter[Follow | Leave] = TypeAdapter(Follow | Leave)


class NotUnderstood(Exception):
    """What a browser has sent is nothing that our pages send."""


def route(api: AsyncApi) -> WebSocketRoute:
    """Return the route, which serves all browsers, each as the person who is signed in there."""

    async def serve(socket: WebSocket) -> None:
        await socket.accept()
        if socket.query_params.get("person", "") != socket.headers.get(PERSON_HEADER, ""):
            await socket.close(ENDED)  # the page is another person's
            return
        with suppress(WebSocketDisconnect):
            if code := await _serve(socket, api.of(socket, is_unattended=True)):
                await socket.close(code)

    return WebSocketRoute(PATH, serve)


async def _serve(socket: WebSocket, api: CallersApi) -> int | None:
    """Serve a tab until it disconnects; else return the code with which to close it."""
    code = None
    try:
        async with asyncio.TaskGroup() as tasks:
            outbox = Outbox()
            tasks.create_task(_send(socket, outbox))
            await _take(socket, api, outbox, tasks)
    except* WebSocketDisconnect:
        pass
    except* SignedOut:
        code = ENDED
    except* NotUnderstood:
        code = NOT_UNDERSTOOD
    except* Exception:
        log.exception("A tab's events failed; it connects again")
        code = TRY_AGAIN
    return code


async def _take(
    socket: WebSocket, api: CallersApi, outbox: Outbox, tasks: asyncio.TaskGroup
) -> None:
    """Follow and leave sessions as the browser asks. Raise NotUnderstood."""
    followed: dict[str, asyncio.Task[None]] = {}
    while True:
        asked = await _read(socket)
        session = asked.leave if isinstance(asked, Leave) else asked.follow
        if before := followed.pop(session, None):
            before.cancel()
        outbox.drop(session)
        if isinstance(asked, Follow):
            followed = {one: task for one, task in followed.items() if not task.done()}
            if len(followed) >= MOST_FOLLOWED:
                raise NotUnderstood
            follower = Follower(api, session, asked.after, outbox)
            followed[session] = tasks.create_task(follower.run())


async def _read(socket: WebSocket) -> Follow | Leave:
    try:
        sent = await socket.receive_text()
        if len(sent) <= MOST_CHARS:
            return ASKED.validate_json(sent)
    except (KeyError, ValidationError):  # KeyError: bytes
        pass
    raise NotUnderstood


async def _send(socket: WebSocket, outbox: Outbox) -> None:
    """Send what is there; after text wait briefly, so that pieces that come close are joined."""
    writer = Writer()
    while True:
        batch = await outbox.take()
        await socket.send_text(writer.write(batch))
        if any(told.text is not None for told in batch):
            await asyncio.sleep(JOIN_SECONDS)
