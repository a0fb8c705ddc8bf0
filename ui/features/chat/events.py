"""Reads the events of one session in a thread, and resumes where the stream broke."""

import json
import queue
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import httpx

from backend.schemas.sessions import EventName
from ui.client import Client

# The server sends a comment every ten seconds; a stream silent for three of them is dead.
STREAM_TIMEOUT = httpx.Timeout(30.0, connect=3.0)
RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Event:
    """One event of a session's stream; `name` is None where the stream itself has ended."""

    id: str
    name: EventName | None
    data: dict[str, Any]

    @property
    def turn_id(self) -> str:
        """The turn that this event belongs to."""
        return str(self.data.get("context", {}).get("turn_id", ""))


STREAM_ENDED = Event("", None, {})


class Follower:
    """Reads a session's events until closed; the page takes them in batches."""

    def __init__(self, client: Client, session_id: UUID) -> None:
        self._client = client
        self._path = f"sessions/{session_id}/events"
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
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

    def take(self, wait: float, join: float) -> list[Event]:
        """Wait at most `wait` seconds for an event, then `join` seconds for more of them."""
        try:
            taken = [self._events.get(timeout=wait)]
        except queue.Empty:
            return []
        deadline = time.monotonic() + join
        while (left := deadline - time.monotonic()) > 0:
            with suppress(queue.Empty):
                taken.append(self._events.get(timeout=left))
        return taken

    def _read(self) -> None:
        failures = 0
        while not self._closed.is_set():
            try:
                if not self._read_stream():
                    self._events.put(STREAM_ENDED)
                    return
                failures = 0
            except (httpx.HTTPError, httpx.StreamError, OSError):
                failures += 1
            self._closed.wait(RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])

    def _read_stream(self) -> bool:
        """Read one connection to its end; False when there is no such session any more."""
        # Pages run beside the API: compressing would cost both time and save nobody bytes.
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if self._last_id:
            headers["Last-Event-ID"] = self._last_id
        stream = self._client.http.stream(
            "GET", self._path, headers=headers, timeout=STREAM_TIMEOUT
        )
        with stream as response:
            self._response = response
            if response.status_code == httpx.codes.NOT_FOUND:
                return False
            response.raise_for_status()
            for event in parse_events(response.iter_bytes()):
                if self._closed.is_set():
                    break
                self._last_id = event.id or self._last_id
                self._events.put(event)
        return True


def parse_events(chunks: Iterable[bytes]) -> Iterator[Event]:
    """The events of a byte stream, as https://html.spec.whatwg.org/#parsing-an-event-stream has it.

    Unknown event names are left out: a newer server may send more than these pages know.
    """
    fields: dict[str, list[str]] = {}
    for line in _lines(chunks):
        if line:
            name, _, value = line.partition(":")
            fields.setdefault(name, []).append(value.removeprefix(" "))
        elif fields:
            event = _event(fields)
            fields = {}
            if event is not None:
                yield event


def _event(fields: dict[str, list[str]]) -> Event | None:
    name = fields.get("event", [""])[-1]
    if "data" not in fields or name not in set(EventName):
        return None
    data = json.loads("\n".join(fields["data"]))
    return Event(fields.get("id", [""])[-1], EventName(name), data)


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    # httpx's iter_lines also splits at U+2028 and other characters that JSON text may hold.
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r").decode()


def _hang_up(response: httpx.Response | None) -> None:
    """Wake the reading thread at once: closing alone would leave it in its read."""
    if response is None or response.is_closed:
        return
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
