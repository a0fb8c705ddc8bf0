"""Compression of an event stream such that each event can be read as soon as it arrives."""

import asyncio
import zlib
from collections.abc import AsyncIterator

# Events of a session repeat their context of a few hundred bytes: a small window is enough for
# that, and costs 32 KB per viewer instead of 256.
WINDOW_BITS = 12
MEMORY_LEVEL = 5
LEVEL = 6
GZIP = 16  # added to the window bits, it makes zlib write a gzip header and trailer
LARGE_BYTES = 50_000  # of what a viewer missed; compressing that must not block the loop


def is_accepted(accept_encoding: str) -> bool:
    """Return whether a client accepts gzip, by its Accept-Encoding (RFC 9110, 12.5.3)."""
    for offered in accept_encoding.lower().split(","):
        name, _, parameters = offered.strip().partition(";")
        if name.strip() == "gzip":
            return parameters.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


async def compress(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces as one gzip stream, flushed so that each piece is readable immediately."""
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP + WINDOW_BITS, MEMORY_LEVEL)

    def compressed(piece: bytes) -> bytes:
        return compressor.compress(piece) + compressor.flush(zlib.Z_SYNC_FLUSH)

    async for piece in pieces:
        if len(piece) <= LARGE_BYTES:
            yield compressed(piece)
        else:
            yield await asyncio.to_thread(compressed, piece)
    yield compressor.flush()
