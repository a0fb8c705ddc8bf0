"""Several servers of one service: a request goes to one that answers.

Only what cannot have been carried out is sent to another one, or what may be: a request that
changes nothing, and one with an `Idempotency-Key`, which is done once however often it is sent.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count

import httpx

AWAY_SECONDS = 10.0  # for how long one that did not answer in time is asked after the others
_NOT_REACHED = (httpx.ConnectError, httpx.ConnectTimeout)
_BROKEN_OFF = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)


class Replicas:
    """The addresses of the servers, and which of them did not answer lately."""

    def __init__(
        self, addresses: Sequence[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._urls = tuple(httpx.URL(address) for address in addresses)
        self._clock = clock
        self._turns = count()
        self._away: dict[httpx.URL, float] = {}  # until when

    def in_order(self) -> list[httpx.URL]:
        """Return all addresses as they are to be tried; each request begins with the next one.

        When one has been away for a while, one request begins with it, and no other meanwhile.
        """
        start, now = next(self._turns) % len(self._urls), self._clock()
        urls = self._urls[start:] + self._urls[:start]
        first = next((url for url in urls if self._away.get(url, now) <= now), urls[0])
        if first in self._away:
            self._away[first] = now + AWAY_SECONDS
        return [first, *sorted((url for url in urls if url != first), key=self._away.__contains__)]

    def tried(self, url: httpx.URL, *, is_reached: bool) -> None:
        """Note whether an address has answered."""
        if is_reached:
            self._away.pop(url, None)
        else:
            self._away[url] = self._clock() + AWAY_SECONDS

    def requests(self, request: httpx.Request) -> Iterator[tuple[httpx.URL, httpx.Request]]:
        """Yield the request, which names the first address, as it is for each one in order."""
        for url in self.in_order():
            yield url, self._for(url, request)

    def _for(self, url: httpx.URL, request: httpx.Request) -> httpx.Request:
        if url == self._urls[0]:
            return request
        path = request.url.raw_path.removeprefix(_folder(self._urls[0]))
        headers = request.headers.copy()
        headers["Host"] = url.netloc.decode()
        return httpx.Request(
            request.method,
            url.copy_with(raw_path=_folder(url) + path),
            headers=headers,
            stream=request.stream,
            extensions=request.extensions,
        )


class ReplicaTransport(httpx.BaseTransport):
    """Sends the requests of a client, whose address is the first one."""

    def __init__(self, replicas: Replicas, inner: httpx.BaseTransport) -> None:
        self._replicas = replicas
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer of a server. Raise the last one's error if there is none."""
        failure: httpx.TransportError | None = None
        for url, one in self._replicas.requests(request):
            try:
                answer = self._inner.handle_request(one)
            except (httpx.TimeoutException, httpx.ConnectError, *_BROKEN_OFF) as error:
                failure = _checked(self._replicas, url, request, error)
            else:
                self._replicas.tried(url, is_reached=True)
                return answer
        raise failure or httpx.ConnectError("No address")

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()


class AsyncReplicaTransport(httpx.AsyncBaseTransport):
    """The same for an asynchronous client."""

    def __init__(self, replicas: Replicas, inner: httpx.AsyncBaseTransport) -> None:
        self._replicas = replicas
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer of a server. Raise the last one's error if there is none."""
        failure: httpx.TransportError | None = None
        for url, one in self._replicas.requests(request):
            try:
                answer = await self._inner.handle_async_request(one)
            except (httpx.TimeoutException, httpx.ConnectError, *_BROKEN_OFF) as error:
                failure = _checked(self._replicas, url, request, error)
            else:
                self._replicas.tried(url, is_reached=True)
                return answer
        raise failure or httpx.ConnectError("No address")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


def _checked(
    replicas: Replicas, url: httpx.URL, request: httpx.Request, error: httpx.TransportError
) -> httpx.TransportError:
    """Return the error if another server may be asked; else raise it."""
    is_silent = isinstance(error, httpx.TimeoutException)
    if is_silent or isinstance(error, _NOT_REACHED):
        replicas.tried(url, is_reached=False)
    if isinstance(error, _NOT_REACHED):
        return error
    if is_silent or not _may_be_repeated(request):  # nobody waits for as long again
        raise error
    return error


def _may_be_repeated(request: httpx.Request) -> bool:
    is_harmless = request.method in ("GET", "HEAD") or "idempotency-key" in request.headers
    return is_harmless and isinstance(request.stream, httpx.ByteStream)  # else it is used up


def _folder(url: httpx.URL) -> bytes:
    """Return the path below which a server answers, without its final slash."""
    return url.raw_path.rstrip(b"/")
