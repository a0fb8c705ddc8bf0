"""Sending one request: to a checked address, without redirects, bounded in time and size."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx2

from backend.errors.outgoing import AddressRefused
from backend.outgoing.connecting import guard
from backend.outgoing.policy import Outgoing
from backend.version import VERSION
from colloquy_kit.messages.clean import clean_text

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 10.0  # for all of it
MOST_BYTES = 2_000  # that are read of an answer
MOST_CHARS = 500  # that are kept of it
GONE = 410


@dataclass(frozen=True)
class Answer:
    """What a receiver answered; without a status it did not, and `text` says why."""

    status: int | None
    text: str
    seconds: float = 0.0

    @property
    def is_ok(self) -> bool:
        """Return whether the receiver took the event."""
        return self.status is not None and 200 <= self.status < 300


def open_sender(outgoing: Outgoing) -> httpx2.AsyncClient:
    """Return a client for requests to any receivers: it keeps no cookies from one to the next.

    Raise ValueError or OSError if the environment names a proxy or certificates that are unusable.
    """
    client = httpx2.AsyncClient(
        follow_redirects=False,
        timeout=httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        headers={"User-Agent": f"Colloquy/{VERSION}", "Accept-Encoding": "identity"},
    )
    return guard(client, outgoing)


async def send(
    client: httpx2.AsyncClient, url: str, headers: Mapping[str, str], body: bytes
) -> Answer:
    """Send a body; what the receiver does, and that it does nothing, is in the answer."""
    began = time.monotonic()
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            status, text = await _ask(client, url, headers, body)
    except (TimeoutError, httpx2.TimeoutException):
        status, text = None, f"No answer within {ANSWER_SECONDS:.0f} seconds."
    except AddressRefused as refused:
        status, text = None, refused.detail
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, OSError) as error:
        status, text = None, f"The connection failed: {type(error).__name__}."
    return Answer(status, clean_text(text)[:MOST_CHARS], round(time.monotonic() - began, 3))


async def _ask(
    client: httpx2.AsyncClient, url: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, str]:
    given = {"Content-Type": "application/json", **headers}
    async with client.stream("POST", url, content=body, headers=given) as answer:
        if answer.has_redirect_location:
            return answer.status_code, "Redirects are not followed."
        read = b""
        async for piece in answer.aiter_raw():
            read += piece
            if len(read) >= MOST_BYTES:
                break
        return answer.status_code, read[:MOST_BYTES].decode("utf-8", "replace")
