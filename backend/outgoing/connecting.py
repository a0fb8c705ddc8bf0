"""Connecting to an address that was checked, never to a name that is looked up again."""

import asyncio
import socket
from asyncio.staggered import staggered_race
from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar

import httpcore
import httpcore2
import httpx
import httpx2

from backend.addresses import DEFAULT_PORTS
from backend.outgoing.policy import Outgoing

STAGGER_SECONDS = 0.25  # before the next address is tried as well: RFC 8305, 5

Client = TypeVar("Client", httpx.AsyncClient, httpx2.AsyncClient, httpx.Client, httpx2.Client)


class NotConnected(httpcore.ConnectError, httpcore2.ConnectError):
    """There is no address to connect to; its cause says why."""


class NotConnectedInTime(httpcore.ConnectTimeout, httpcore2.ConnectTimeout):
    """Resolver and host together did not answer within the time to connect."""


def guard(client: Client, outgoing: Outgoing) -> Client:
    """Make an HTTP client connect only where `outgoing` allows, and return it.

    Each connection of its pool is to an address that was checked; TLS still verifies the name.
    Redirects that it follows are connections like others. A proxy of the environment is where the
    operator put it; of what is requested through it, addresses are checked, names it resolves.
    Requests raise AddressRefused, beside the library's own errors.
    """
    # httpx has no parameter for it, unlike the pool that it builds (httpcore's `network_backend`).
    transport: Any = client._transport
    pool = transport._pool
    is_async = isinstance(client, httpx.AsyncClient | httpx2.AsyncClient)
    pinned = _AsyncPinned if is_async else _Pinned
    pool._network_backend = pinned(outgoing, pool._network_backend)

    def check(request: Any) -> None:
        url = request.url
        outgoing.check(url.raw_host.decode("ascii"), url.port or DEFAULT_PORTS.get(url.scheme, 0))

    async def acheck(request: Any) -> None:
        check(request)

    hooks: dict[str, list[Any]] = client.event_hooks
    client.event_hooks = {**hooks, "request": [acheck if is_async else check, *hooks["request"]]}
    return client


def connect(outgoing: Outgoing, host: str, port: int, seconds: float) -> socket.socket:
    """Return a connected socket, for protocols other than HTTP.

    Raise AddressRefused, or OSError if nothing answers.
    """
    error: OSError = ConnectionRefusedError(host)
    for address in outgoing.find(host, port):
        try:
            return socket.create_connection((address, port), seconds)
        except OSError as failed:
            error = failed
    raise error


class _AsyncPinned:
    """A network backend of httpcore, and of httpcore2, that looks names up by `outgoing`."""

    def __init__(self, outgoing: Outgoing, network: Any) -> None:
        self._outgoing, self._network = outgoing, network

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, **options: Any
    ) -> Any:
        try:
            async with asyncio.timeout(timeout):
                found = await self._outgoing.afind(host, port)
                return await self._first(found, port, options)
        except TimeoutError as error:
            raise NotConnectedInTime(host) from error
        except (OSError, UnicodeError) as error:
            raise NotConnected(str(error)) from error

    async def _first(self, found: Sequence[str], port: int, options: dict[str, Any]) -> Any:
        tries = [partial(self._network.connect_tcp, one, port, **options) for one in found]
        if len(tries) == 1:
            return await tries[0]()
        stream, winner, errors = await staggered_race(tries, STAGGER_SECONDS)
        if winner is None:
            raise next(filter(None, errors), NotConnected("no address"))
        return stream

    async def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> Any:
        raise NotConnected(path)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Pinned:
    """The same for clients without a loop."""

    def __init__(self, outgoing: Outgoing, network: Any) -> None:
        self._outgoing, self._network = outgoing, network

    def connect_tcp(self, host: str, port: int, **options: Any) -> Any:
        try:
            found = self._outgoing.find(host, port)
        except (OSError, UnicodeError) as error:
            raise NotConnected(str(error)) from error
        failed: Exception = NotConnected(host)
        for address in found:
            try:
                return self._network.connect_tcp(address, port, **options)
            except (httpcore.ConnectError, httpcore2.ConnectError) as error:
                failed = error
        raise failed
