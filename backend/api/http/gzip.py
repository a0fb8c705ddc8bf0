"""Compression of an event stream that costs once per event, not once per viewer.

Events of a session repeat their context, so they compress to a tenth, but only with what came
before as a dictionary. A compressor of their own would cost each viewer memory and time. Here each
piece of text is a block by itself that may refer to the last `WINDOW` bytes before it; viewers who
were told the same lately get the very same block.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator
from functools import lru_cache

WINDOW_BITS = 12
WINDOW = 1 << WINDOW_BITS
MEMORY_LEVEL = 5
LEVEL = 6
SHARED_BLOCKS = 64  # are remembered, for the viewers who are told them a moment later
SHARED_BYTES = 50_000  # more is what one viewer missed; it must not hold up the others
# RFC 1952: the magic number, deflate, no flags, no time, no extra flags, any system.
HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
END = b"\x03\x00"  # an empty last block


def is_accepted(accept_encoding: str) -> bool:
    """Whether a client reads gzip, by its Accept-Encoding (RFC 9110, 12.5.3)."""
    for offered in accept_encoding.lower().split(","):
        name, _, parameters = offered.strip().partition(";")
        if name.strip() == "gzip":
            return parameters.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


async def compress(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces as a gzip file that can be read up to the end of each piece at once."""
    before, checksum, length = b"", 0, 0
    header = HEADER
    async for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
        length += len(piece)
        if len(piece) <= SHARED_BYTES:
            block, before = _shared_block(before, piece)
        else:
            block, before = await asyncio.to_thread(_block, before, piece)
        yield header + block
        header = b""
    yield header + END + checksum.to_bytes(4, "little") + (length % 2**32).to_bytes(4, "little")


@lru_cache(maxsize=SHARED_BLOCKS)
def _shared_block(before: bytes, piece: bytes) -> tuple[bytes, bytes]:
    """As `_block`; the same objects for all who give the same, so that comparing costs nothing."""
    return _block(before, piece)


def _block(before: bytes, piece: bytes) -> tuple[bytes, bytes]:
    """The piece, compressed to a block, and what the next one may refer to."""
    compressor = zlib.compressobj(
        LEVEL, zlib.DEFLATED, -WINDOW_BITS, MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, before
    )
    block = compressor.compress(piece) + compressor.flush(zlib.Z_SYNC_FLUSH)
    return block, (before + piece)[-WINDOW:]
