"""Bounds of request bodies: bytes, values and depth by route, and a total for all of them.

A body over a bound is refused while it arrives: the JSON parser behind this needs about a hundred
bytes of memory for every two that are sent.
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
LARGE_AT_ONCE = 2  # bodies parsed and accepted concurrently; each needs up to ten times its size
ARRIVING_BYTES = 32_000_000  # of all large bodies that are still arriving
NO_ROOM = "Too many large messages arrive at once. Send this one again in a moment."


@dataclass(frozen=True)
class Bound:
    """The largest body allowed: its bytes, and the values in its JSON."""

    size: int = SMALL_BYTES
    values: int = 5_000
    is_streamed: bool = False  # the route checks the size, and keeps nothing in memory

    def __str__(self) -> str:
        if self.is_streamed:
            return "A form with a file of at most MAX_FILE_MB."
        return f"At most {self.size:,} bytes of JSON, with at most {self.values:,} values."


ANY = Bound()
# A million characters in any notation: an emoji may be two escapes of six bytes each.
MESSAGE = Bound(12_500_000, 100)
TEMPLATE = Bound(8_000_000, 10_000)
DECISION = Bound(4_000_000, 20_000)
QUERY = Bound(700_000, 10)
STATE = Bound(12_500_000, 200_000)
UPLOAD = Bound(10**18, 0, is_streamed=True)
BY_PATH = {
    "/files": UPLOAD,
    "/imports": UPLOAD,
    "/chat": MESSAGE,
    "/sessions/{id}/chat": MESSAGE,
    "/images/{id}/chat": MESSAGE,
    "/turns/{id}/edit": MESSAGE,
    "/turns/{id}/decisions": DECISION,
    "/approvals/{id}/decision": DECISION,
    "/sessions/{id}/query": QUERY,
    "/sessions/{id}/state": STATE,
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
    """Return the bound of bodies sent to this path, whatever its parameters are."""
    return next((bound for pattern, bound in _BOUNDS if pattern.fullmatch(path)), ANY)


class Bodies:
    """Passes bodies on to the routes as far as there is room for them."""

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
            # No GET route reads a body; one that is sent anyway is not kept.
            is_kept = scope["method"] not in ("GET", "HEAD") and not bound.is_streamed
            await self._app(scope, body.receive if is_kept else receive, send)
        finally:
            body.leave()


class Body:
    """One request's body as it arrives."""

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
        """Return the next piece. Raise HTTPException if the body is too large or malformed."""
        if self._has_arrived:
            return await self._receive()
        try:
            async with asyncio.timeout(None) as self._patience:
                return await self._take()
        except TimeoutError:
            raise HTTPException(503, NO_ROOM, {**CLOSE, "Retry-After": "5"}) from None

    def give_way(self) -> None:
        """Refuse this body, if it is still arriving, to make room for another one."""
        if self._patience and not self._patience.expired():
            self._patience.reschedule(0)

    def leave(self) -> None:
        """Free this body's room for another large one, because it is no longer needed."""
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
    """The large bodies of a process: those still arriving, and those being worked on."""

    def __init__(self) -> None:
        self.in_hand = asyncio.Semaphore(LARGE_AT_ONCE)
        self._arriving: dict[Body, None] = {}

    def make_for(self, body: Body) -> None:
        """Refuse the oldest bodies if needed: a client of usual speed would have finished."""
        self._arriving.setdefault(body)
        oldest = iter(tuple(self._arriving))
        while sum(each.size for each in self._arriving) > ARRIVING_BYTES:
            gone = next(oldest)
            gone.give_way()
            self.forget(gone)

    def forget(self, body: Body) -> None:
        """Remove a body that has arrived, or whose client has gone."""
        self._arriving.pop(body, None)


def _refusal(request: Request, bound: Bound) -> Response | None:
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 18 or int(length) > bound.size:
        return too_large(request)
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        detail = "Compressed bodies are not supported. Send it uncompressed."
        return problem(request, 415, "Unsupported encoding", detail, CLOSE)
    return None
