"""Compression of an event stream, so that each event can be read as soon as it has come."""

import asyncio
import zlib
from collections.abc import AsyncIterator

# Events of a session repeat their context, a few hundred bytes: a small window finds that, and
# costs each viewer 32 KB instead of 256.
WINDOW_BITS = 12
MEMORY_LEVEL = 5
LEVEL = 6
GZIP = 16  # added to the window, it asks zlib for gzip's header and end
LARGE_BYTES = 50_000  # what a viewer missed; compressing it must not hold up the others


def is_accepted(accept_encoding: str) -> bool:
    """Return whether a client reads gzip, by its Accept-Encoding (RFC 9110, 12.5.3)."""
    for offered in accept_encoding.lower().split(","):
        name, _, parameters = offered.strip().partition(";")
        if name.strip() == "gzip":
            return parameters.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


async def compress(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces as one gzip file that can be read up to the end of each piece at once."""
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP + WINDOW_BITS, MEMORY_LEVEL)

    def compressed(piece: bytes) -> bytes:
        return compressor.compress(piece) + compressor.flush(zlib.Z_SYNC_FLUSH)

    async for piece in pieces:
        if len(piece) <= LARGE_BYTES:
            yield compressed(piece)
        else:
            yield await asyncio.to_thread(compressed, piece)
    yield compressor.flush()
