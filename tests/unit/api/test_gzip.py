"""Compressed event streams: read piece by piece, whatever came before."""

import asyncio
import gzip as standard
import zlib
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.api.http.gzip import WINDOW_BITS, compress, is_accepted


def compressed(pieces: list[bytes]) -> list[bytes]:
    async def given_pieces() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def collect() -> list[bytes]:
        return [block async for block in compress(given_pieces())]

    return asyncio.run(collect())


@given(st.lists(st.binary(max_size=300) | st.just(b"again and again " * 30), max_size=20))
def test_each_piece_can_be_read_as_soon_as_its_block_has_come(pieces: list[bytes]) -> None:
    reader = zlib.decompressobj(16 + zlib.MAX_WBITS)

    *blocks, end = compressed(pieces)

    assert [reader.decompress(block) for block in blocks] == pieces
    assert reader.decompress(end) == b""
    assert reader.eof
    assert not reader.unused_data


def test_the_whole_is_a_gzip_file_though_longer_than_the_window() -> None:
    pieces = [
        f"line {number} of many\n".encode() * 40 for number in range(3 * 2**WINDOW_BITS // 400)
    ]

    assert standard.decompress(b"".join(compressed(pieces))) == b"".join(pieces)


def test_what_repeats_costs_little() -> None:
    event = b'data: {"context":{"turn_id":"0a1b2c3d-4e5f-6789-abcd-ef0123456789"},"text":"%d"}\n\n'

    _, *blocks, _ = compressed([event % number for number in range(10)])

    assert max(map(len, blocks)) < 30


@pytest.mark.parametrize(
    ("header", "is_so"),
    [
        ("gzip, deflate, br", True),
        ("deflate;q=0.5, GZIP;q=0.3", True),
        ("gzip; q=0", False),
        ("identity", False),
        ("", False),
    ],
)
def test_only_a_client_that_says_so_gets_gzip(header: str, is_so: bool) -> None:
    assert is_accepted(header) is is_so
