"""The content of a compressed answer in pieces, so that its size is known before it is held.

An HTTP client that decompresses by itself can turn 64 KB into 64 MB at once, and into gigabytes if
an answer is compressed twice.
"""

import asyncio
import zlib
from collections.abc import AsyncIterable, AsyncIterator, MutableMapping

LARGEST_PIECE = 64 * 2**10
_PLAIN = ("", "identity")
_INFLATED = ("gzip", "x-gzip", "deflate")
_EITHER_HEADER = zlib.MAX_WBITS | 32  # gzip's or zlib's


class NotInflatable(ValueError):
    """The answer is compressed in another way than gzip or deflate, twice, or wrongly."""


class Inflated:
    """A body without its compression, of which the headers say nothing any more."""

    def __init__(self, headers: MutableMapping[str, str], body: AsyncIterable[bytes]) -> None:
        self._encoding = headers.pop("content-encoding", "").strip().lower()
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the content in pieces of a limited size. Raise NotInflatable."""
        if self._encoding not in _PLAIN + _INFLATED:
            raise NotInflatable(self._encoding)
        decompress = None if self._encoding in _PLAIN else zlib.decompressobj(_EITHER_HEADER)
        async for chunk in self._body:
            if decompress is None:
                yield chunk
                continue
            try:
                while piece := decompress.decompress(chunk, LARGEST_PIECE):
                    yield piece
                    await asyncio.sleep(0)  # nothing else waits until a chunk is decompressed
                    chunk = decompress.unconsumed_tail
            except zlib.error as error:
                raise NotInflatable(str(error)) from None
