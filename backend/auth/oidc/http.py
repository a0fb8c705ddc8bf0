"""Calls to identity providers: guarded, bounded in time and size, and redirected nowhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2

from backend.errors.outgoing import AddressRefused
from backend.errors.people import ProviderFails
from backend.outgoing.connecting import guard
from backend.outgoing.policy import Outgoing

SECONDS = 10.0
MOST_BYTES = 2**20
UNCOMPRESSED = "identity"
HEADERS = {"Accept": "application/json", "Accept-Encoding": UNCOMPRESSED}


class _TooLarge(httpx2.RequestError):
    """The body has more than MOST_BYTES, or is compressed, so that its size cannot be known."""


class _Bounded(httpx2.SyncByteStream):
    """A body up to a size, and up to a moment however slowly it comes."""

    def __init__(self, response: httpx2.Response) -> None:
        self._body = cast(httpx2.SyncByteStream, response.stream)
        self._ends_at = time.monotonic() + SECONDS

    def __iter__(self) -> Iterator[bytes]:
        left = MOST_BYTES
        for part in self._body:
            left -= len(part)
            if left < 0:
                raise _TooLarge("The body is too large")
            if time.monotonic() > self._ends_at:
                raise httpx2.ReadTimeout("The body takes too long")
            yield part

    def close(self) -> None:
        self._body.close()


def bounded(client: httpx2.Client, outgoing: Outgoing) -> httpx2.Client:
    """Return the client made to connect only where `outgoing` allows, and to read only so much."""
    client.timeout = httpx2.Timeout(SECONDS)
    client.follow_redirects = False
    client.headers.update(HEADERS)
    client.event_hooks = {"request": [], "response": [_bound]}
    return guard(client, outgoing)


def get_object(url: str, outgoing: Outgoing, token: str | None = None) -> dict[str, Any]:
    """Return the JSON object at an address of a provider. Raise ProviderFails."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with explained(url), bounded(httpx2.Client(), outgoing) as client:
        answer = client.get(url, headers=headers)
    place = _place(url)
    if answer.is_redirect:
        target = _place(answer.headers.get("location", ""))
        raise ProviderFails(f"{place} redirects to {target}, which is not followed.")
    if answer.status_code != httpx2.codes.OK:
        raise ProviderFails(f"{place} answered with HTTP status {answer.status_code}.")
    return read_object(answer, place)


def read_object(answer: httpx2.Response, place: str) -> dict[str, Any]:
    """Return the JSON object of an answer. Raise ProviderFails."""
    try:
        found = answer.json()
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProviderFails(f"{place} did not answer with a JSON object.")
    return found


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Say what is wrong when a call to this address fails. Raise ProviderFails."""
    place = _place(url)
    try:
        yield
    except AddressRefused as error:
        raise ProviderFails(f"{place} was not called. {error.detail}") from None
    except httpx2.TimeoutException:
        raise ProviderFails(f"{place} gave no answer within {SECONDS:.0f} seconds.") from None
    except _TooLarge:
        raise ProviderFails(f"{place} answered with more than a provider has to say.") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as error:
        reason = str(error).strip()[:200] or type(error).__name__
        raise ProviderFails(f"{place} cannot be reached: {reason}.") from None


def _bound(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", UNCOMPRESSED) != UNCOMPRESSED:
        raise _TooLarge("The body is compressed")
    response.stream = _Bounded(response)


def _place(url: str) -> str:
    """Return an address without its query, which may hold what is nobody's business."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"[:300]
    except ValueError:
        return "An address that cannot be read"
