"""Reads the events of one session in a thread, and resumes where the stream broke."""

import logging
import queue
import socket
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Self
from uuid import UUID

import httpx
from httpx_sse import ServerSentEvent, connect_sse

from backend.schemas.events import EVENTS, SessionEvent, read_event
from ui.client import Client

# The server sends a comment every ten seconds; a stream silent for three of them is dead.
STREAM_TIMEOUT = httpx.Timeout(30.0, connect=3.0)
RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0)
log = logging.getLogger(__name__)


class Follower:
    """Reads a session's events until closed; the page takes them in batches."""

    def __init__(self, client: Client, session_id: UUID) -> None:
        self.has_ended = False  # there is no such session any more
        self._client = client
        self._path = f"sessions/{session_id}/events"
        self._events: queue.SimpleQueue[SessionEvent | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._response: httpx.Response | None = None
        self._last_id = ""
        self._thread = threading.Thread(target=self._read, name="events", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed.set()
        _hang_up(self._response)

    def take(self, wait: float, join: float) -> list[SessionEvent]:
        """Wait at most `wait` seconds for an event, then `join` seconds for more of them."""
        try:
            taken = [self._events.get(timeout=wait)]
        except queue.Empty:
            return []
        deadline = time.monotonic() + join
        while (left := deadline - time.monotonic()) > 0:
            with suppress(queue.Empty):
                taken.append(self._events.get(timeout=left))
        self.has_ended = None in taken
        return [event for event in taken if event is not None]

    def _read(self) -> None:
        failures = 0
        while not self._closed.is_set():
            try:
                if not self._read_stream():
                    self._events.put(None)
                    return
                failures = 0
            except (httpx.HTTPError, httpx.StreamError, OSError):
                failures += 1
            self._closed.wait(RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])

    def _read_stream(self) -> bool:
        """Read one connection to its end; False when there is no such session any more."""
        # Pages run beside the API: compressing would cost both time and save nobody bytes.
        headers = {"Accept-Encoding": "identity"}
        if self._last_id:
            headers["Last-Event-ID"] = self._last_id
        stream = connect_sse(
            self._client.http, "GET", self._path, headers=headers, timeout=STREAM_TIMEOUT
        )
        with stream as source:
            self._response = source.response
            if source.response.status_code == httpx.codes.NOT_FOUND:
                return False
            source.response.raise_for_status()
            for written in source.iter_sse():
                if self._closed.is_set():
                    break
                self._last_id = written.id or self._last_id
                if (event := _event(written)) is not None:
                    self._events.put(event)
        return True


def _event(written: ServerSentEvent) -> SessionEvent | None:
    """Return the event; None for one that these pages do not know: a server may be newer."""
    if written.event not in EVENTS:
        return None
    try:
        return read_event(written.event, written.data)
    except ValueError:  # says what was written, which is nothing for a log
        log.warning("An event %s that cannot be read is passed over", written.event)
        return None


def _hang_up(response: httpx.Response | None) -> None:
    """Wake the reading thread at once: closing alone would leave it in its read."""
    if response is None or response.is_closed:
        return
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
