"""Reading an endpoint's response: server-sent events in all dialects, or a single JSON text."""

import json
from collections.abc import AsyncIterator, Iterator
from enum import Enum
from typing import Any

import httpx2
from openai import APIError, AsyncStream, Stream

from colloquy_kit.messages.parts import has_too_many_parts

BOM = b"\xef\xbb\xbf"
MAX_BODY_BYTES = 32 * 2**20
UNNAMED = "the endpoint named no reason"


class End(Enum):
    """Stands for the `[DONE]` of a stream; an answer in one JSON text gets it too."""

    DONE = "[DONE]"


class Decoder:
    """Decodes bytes into chunks of an answer incrementally, in linear time. Pure.

    More lenient than the standard of server-sent events, as endpoints are: the last event needs no
    blank line after it, several events may be sent as one, and events without data are skipped.
    A body that begins with a bracket is one JSON text, whatever its content type says. What is
    held at once, of a JSON text, a line or an event, has a maximum size and number of parts.
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._is_json: bool | None = None
        self._data: list[str] = []
        self._data_size = 0
        self._is_done = False
        self._size = 0

    def feed(self, received: bytes) -> Iterator[Any]:
        """Take some bytes and yield the chunks that they complete. Raise ValueError if not JSON."""
        if self._is_json is None:
            received = self._begin(received)
        self._size += len(received)
        if self._size > MAX_BODY_BYTES:
            raise ValueError("the answer is too long")
        if self._is_json is False and _ends_a_line(received):
            yield from self._lines(received)
        else:
            self._rest.append(received)

    def end(self) -> Iterator[Any]:
        """Yield what the end of the body completes without a blank line."""
        rest = b"".join(self._rest)
        if self._is_json:
            yield _parse(rest.decode(errors="surrogatepass"))
            yield End.DONE
            return
        if rest:
            self._read_line(rest)
        yield from self._dispatch()

    def _begin(self, received: bytes) -> bytes:
        """Detect the form by the first character; drop blanks and a byte order mark before it."""
        begun = b"".join([*self._rest, received])
        self._rest, self._size = [], 0
        if len(begun) < len(BOM) and BOM.startswith(begun):
            return begun
        if signs := begun.removeprefix(BOM).lstrip():
            if signs.startswith(b"<"):
                raise ValueError("a page instead of an answer")
            self._is_json = signs.startswith((b"{", b"["))
        return signs

    def _lines(self, received: bytes) -> Iterator[Any]:
        text = b"".join([*self._rest, received])
        # A carriage return at the end may be half of a line ending.
        end = max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1)) + 1
        self._rest = [text[end:]] if end < len(text) else []
        for line in text[:end].splitlines():
            if line:
                self._read_line(line)
            else:
                yield from self._dispatch()
        self._size = len(text) - end + self._data_size

    def _read_line(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name.strip() in (b"data", b"error"):
            self._data.append(value.decode().strip())
            self._data_size += len(value)

    def _dispatch(self) -> Iterator[Any]:
        data = [line for line in self._data if line]
        self._data, self._data_size = [], 0
        if self._is_done or not data:
            return
        for text in _texts(data):
            if text.startswith(End.DONE.value):
                self._is_done = True
                yield End.DONE
                return
            yield _parse(text)


class AsyncChunks(AsyncStream[object]):
    """The chunks of an answer as they arrive, then `End.DONE` if the endpoint said so."""

    async def __stream__(self) -> AsyncIterator[object]:
        """Read the whole body, even after `[DONE]`: only then is its connection reused."""
        decoder = Decoder()
        try:
            async for received in self.response.aiter_bytes():
                for chunk in decoder.feed(received):
                    yield _checked(chunk, self.response)
            for chunk in decoder.end():
                yield _checked(chunk, self.response)
        finally:
            await self.response.aclose()


class Chunks(Stream[object]):
    """The same for synchronous use."""

    def __stream__(self) -> Iterator[object]:
        """Read the whole body."""
        decoder = Decoder()
        try:
            for received in self.response.iter_bytes():
                for chunk in decoder.feed(received):
                    yield _checked(chunk, self.response)
            for chunk in decoder.end():
                yield _checked(chunk, self.response)
        finally:
            self.response.close()


def _parse(text: str) -> Any:
    if has_too_many_parts(text):
        raise ValueError("the answer has too many parts")
    return json.loads(text)


def _ends_a_line(received: bytes) -> bool:
    return b"\n" in received or b"\r" in received


def _texts(data: list[str]) -> list[str]:
    """Return an event's data as JSON texts: one across all lines, or one in each line.

    Endpoints that omit the blank lines between events send several as one.
    """
    if len(data) == 1:
        return data
    whole = all(line.startswith(("{", "[")) and line.endswith(("}", "]")) for line in data)
    return data if whole else ["\n".join(data)]


def _checked(chunk: Any, response: httpx2.Response) -> object:
    """Return the chunk. Raise APIError if it is an error instead of, or within, an answer."""
    if chunk is End.DONE:
        return chunk
    given = chunk[0] if isinstance(chunk, list) and len(chunk) == 1 else chunk
    error = _error_of(given) if isinstance(given, dict) else None
    if error is None:
        return given
    text = error.get("message") if isinstance(error, dict) else error
    message = text if isinstance(text, str) and text else UNNAMED
    raise APIError(message, response.request, body=error)


def _error_of(chunk: dict[str, Any]) -> Any:
    """Return what a chunk names as an error; some endpoints send its fields as a chunk."""
    if error := chunk.get("error"):
        return error
    message = chunk.get("message") or chunk.get("detail")
    says_so = chunk.get("object") == "error" or isinstance(message, str)
    return {**chunk, "message": message} if says_so and "choices" not in chunk else None
