"""How much a request's body may be: in bytes, values and depth by route, and of all together.

What is too much is refused while it arrives: the parser behind this makes objects of all that it
is given, a hundred bytes of memory for each two that are sent.
"""

import asyncio
import re
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.api.http.structure import Structure
from backend.api.problems import CLOSE, TOO_LARGE, problem, too_large

SCOPE_KEY = "colloquy.body"
SMALL_BYTES = 64_000
LARGE_AT_ONCE = 2  # are parsed and accepted; each takes up to ten times its length meanwhile
ARRIVING_BYTES = 32_000_000  # of all large bodies that have not arrived whole
NO_ROOM = "Too many large messages arrive at once. Send this one again in a moment."


@dataclass(frozen=True)
class Bound:
    """The most that a body may have: bytes, and values in its JSON."""

    size: int = SMALL_BYTES
    values: int = 5_000
    is_streamed: bool = False  # its route bounds it, and keeps none of it in memory

    def __str__(self) -> str:
        if self.is_streamed:
            return "A form with the file: at most MAX_FILE_MB of it."
        return f"At most {self.size:,} bytes of JSON, with {self.values:,} values."


ANY = Bound()
# A million characters, however they are written: an emoji may be two escapes of six bytes each.
MESSAGE = Bound(12_500_000, 100)
TEMPLATE = Bound(8_000_000, 10_000)
DECISION = Bound(4_000_000, 20_000)
QUERY = Bound(700_000, 10)
UPLOAD = Bound(10**18, 0, is_streamed=True)
BY_PATH = {
    "/files": UPLOAD,
    "/chat": MESSAGE,
    "/sessions/{id}/chat": MESSAGE,
    "/turns/{id}/edit": MESSAGE,
    "/turns/{id}/decisions": DECISION,
    "/approvals/{id}/decision": DECISION,
    "/sessions/{id}/query": QUERY,
    "/domains": TEMPLATE,
    "/domains/check": TEMPLATE,
    "/domains/check/servers": TEMPLATE,
    "/domains/check/request": TEMPLATE,
    "/domains/{id}": TEMPLATE,
}
_BOUNDS = [
    (re.compile("/api/v1" + path.replace("{id}", "[^/]+")), bound)
    for path, bound in BY_PATH.items()
]


def bound_of(path: str) -> Bound:
    """Return what a body sent to this path may have; a parameter of it may be called anything."""
    return next((bound for pattern, bound in _BOUNDS if pattern.fullmatch(path)), ANY)


class Bodies:
    """Lets bodies through to the routes as far as there is room for them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._room = _Room()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        bound = bound_of(scope["path"])
        scope[SCOPE_KEY] = body = Body(receive, bound, self._room)
        if refusal := _refusal(Request(scope), bound):
            await refusal(scope, receive, send)
            return
        try:
            # No route of GET reads a body; what is sent all the same is not kept.
            is_kept = scope["method"] not in ("GET", "HEAD") and not bound.is_streamed
            await self._app(scope, body.receive if is_kept else receive, send)
        finally:
            body.leave()


class Body:
    """One request's body on its way in."""

    def __init__(self, receive: Receive, bound: Bound, room: "_Room") -> None:
        self.bound = bound
        self.size = 0
        self._receive = receive
        self._room = room
        self._structure = Structure(bound.values)
        self._patience: asyncio.Timeout | None = None
        self._has_arrived = self._is_in_hand = False

    @property
    def is_large(self) -> bool:
        """Whether it is longer than most bodies may be."""
        return self.size > SMALL_BYTES

    async def receive(self) -> Message:
        """Return the next piece. Raise HTTPException for what is too much, or of another kind."""
        if self._has_arrived:
            return await self._receive()
        try:
            async with asyncio.timeout(None) as self._patience:
                return await self._take()
        except TimeoutError:
            raise HTTPException(503, NO_ROOM, {**CLOSE, "Retry-After": "5"}) from None

    def give_way(self) -> None:
        """Make room for another one: what has not arrived whole is refused."""
        if self._patience and not self._patience.expired():
            self._patience.reschedule(0)

    def leave(self) -> None:
        """Let another large one be worked on: nothing of this one is needed any more."""
        self._room.forget(self)
        if self._is_in_hand:
            self._is_in_hand = False
            self._room.in_hand.release()

    async def _take(self) -> Message:
        message = await self._receive()
        piece: bytes = message.get("body", b"")
        self.size += len(piece)
        if self.size > self.bound.size:
            raise HTTPException(TOO_LARGE)
        try:
            self._structure.read(piece)
        except ValueError as error:
            raise HTTPException(422, str(error), CLOSE) from error
        if self.is_large:
            self._room.make_for(self)
        self._has_arrived = not message.get("more_body", False)
        if self._has_arrived and self.is_large:
            await self._room.in_hand.acquire()
            self._is_in_hand = True
            self._room.forget(self)
        return message


class _Room:
    """The large bodies of a process: those that arrive, and those that are worked on."""

    def __init__(self) -> None:
        self.in_hand = asyncio.Semaphore(LARGE_AT_ONCE)
        self._arriving: dict[Body, None] = {}

    def make_for(self, body: Body) -> None:
        """Let the oldest ones give way: who sends at a usual pace has long arrived."""
        self._arriving.setdefault(body)
        oldest = iter(tuple(self._arriving))
        while sum(each.size for each in self._arriving) > ARRIVING_BYTES:
            gone = next(oldest)
            gone.give_way()
            self.forget(gone)

    def forget(self, body: Body) -> None:
        """It has arrived, or its client has gone."""
        self._arriving.pop(body, None)


def _refusal(request: Request, bound: Bound) -> Response | None:
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 18 or int(length) > bound.size:
        return too_large(request)
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        detail = "The body is compressed, which is not supported here. Send it as it is."
        return problem(request, 415, "Unsupported encoding", detail, CLOSE)
    return None
