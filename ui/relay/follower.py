"""Follows one session at the API for one browser, and resumes where the stream broke off."""

import asyncio
import json

import httpx
from httpx_sse import ServerSentEvent, aconnect_sse
from pydantic import ValidationError

from backend.schemas.events import EVENTS, StreamEnded
from ui.async_api import CallersApi
from ui.relay.outbox import Outbox, Told, dumps, state

# The server sends a comment every ten seconds; a stream silent for three of them is dead.
TIMEOUT = httpx.Timeout(30.0, connect=3.0)
RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0)
PIECES = ("text_delta", "thinking_delta")
LATER = (httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_MANY_REQUESTS)
# It cannot be said of the place in the stream what it was: the API that gave it was another one.
BAD_PLACE = httpx.codes.UNPROCESSABLE_ENTITY


class SignedOut(Exception):
    """The sign-in of the browser has ended."""


class Gone(Exception):
    """The session does not exist, or the caller has no access to it."""


class Follower:
    """Tells a browser of a session's events, after the one with this id.

    Without an id: from the beginning of the active turn on, if there is one.
    """

    def __init__(self, api: CallersApi, session: str, after: str | None, outbox: Outbox) -> None:
        self._api = api
        self._session = session
        self._after = after
        self._outbox = outbox
        self._failures = 0

    async def run(self) -> None:
        """Follow until the session is gone. Raise SignedOut."""
        while True:
            try:
                await self._read()
            except Gone:
                await self._outbox.put(state(self._session, "gone"))
                return
            except (httpx.HTTPError, httpx.StreamError, OSError):
                self._failures += 1
                if self._failures == 1:
                    await self._outbox.put(state(self._session, "away"))
            await asyncio.sleep(RETRY_SECONDS[min(self._failures, len(RETRY_SECONDS) - 1)])

    async def _read(self) -> None:
        # Pages run beside the API: compression would cost both sides time for no gain.
        headers = {"Accept-Encoding": "identity"}
        if self._after:
            headers["Last-Event-ID"] = self._after
        path = f"sessions/{self._session}/events"
        async with aconnect_sse(
            self._api.streams, "GET", path, headers=headers, timeout=TIMEOUT
        ) as source:
            self._check(source.response)
            self._failures = 0
            await self._outbox.put(state(self._session, "back", after=self._after))
            async for written in source.aiter_sse():
                if written.event == "ended":
                    raise _end_of(written.data)
                self._after = written.id or self._after
                if written.event in EVENTS:  # else the API is newer than these pages
                    await self._outbox.put(_told(self._session, written))

    def _check(self, answer: httpx.Response) -> None:
        """Raise for what is no stream."""
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            raise SignedOut
        if answer.status_code == BAD_PLACE and self._after:
            self._after = None
        elif answer.is_client_error and answer.status_code not in LATER:
            raise Gone
        answer.raise_for_status()


def _end_of(data: str) -> Exception:
    try:
        status = StreamEnded.read(data).status
    except ValidationError:
        status = httpx.codes.NOT_FOUND
    return SignedOut() if status == httpx.codes.UNAUTHORIZED else Gone()


def _told(session: str, written: ServerSentEvent) -> Told:
    """Return an event as the API wrote it; of a piece, what `ui.relay.route` says."""
    told = Told(session, written.id, written.event, written.data)
    if written.event not in PIECES:
        return told
    piece = json.loads(written.data)
    context = {name: piece["context"][name] for name in ("turn_id", "agent_id")}
    told.data = dumps({"context": context, "message_id": piece["message_id"]})
    told.text = piece["text"]
    return told
