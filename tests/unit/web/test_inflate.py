"""What comes out of a compressed answer is known piece by piece, before it is held."""

import asyncio
import gzip
import zlib

import pytest

from backend.web.inflate import LARGEST_PIECE, Inflated, NotInflatable

TEXT = b"a line\n" * 100_000


def read(body: bytes, encoding: str = "", chunk: int = 1000) -> list[bytes]:
    headers = {"content-encoding": encoding, "x": "y"} if encoding else {"x": "y"}

    async def sent():
        for start in range(0, len(body), chunk):
            yield body[start : start + chunk]

    async def pieces() -> list[bytes]:
        return [piece async for piece in Inflated(headers, sent())]

    found = asyncio.run(pieces())
    assert headers == {"x": "y"}
    return found


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (TEXT, ""),
        (TEXT, "identity"),
        (gzip.compress(TEXT, mtime=0), "gzip"),
        (gzip.compress(TEXT, mtime=0), " X-GZIP"),
        (zlib.compress(TEXT), "deflate"),
    ],
)
@pytest.mark.parametrize("chunk", [7, 1_000_000])
def test_the_content_is_what_was_compressed(body, encoding, chunk):
    assert b"".join(read(body, encoding, chunk)) == TEXT


def test_a_small_answer_that_becomes_huge_comes_in_small_pieces():
    sizes = {len(piece) for piece in read(gzip.compress(bytes(20_000_000)), "gzip", 10**6)}

    assert max(sizes) <= LARGEST_PIECE


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "gzip"])
def test_what_is_compressed_in_another_way_is_not_read(encoding):
    with pytest.raises(NotInflatable):
        read(b"no such thing", encoding)
