"""The API as the pages' own routes call it, which serve all browsers from one event loop."""

import httpx
from starlette.requests import HTTPConnection

from backend.schemas.people.account import UNATTENDED
from backend.web.replicas import AsyncReplicaTransport, Replicas
from backend.web.request_ids import naming
from ui.client import api_servers, authorization
from ui.cookies import token_of


class AsyncApi:
    """Connections for all browsers, made in the event loop of the first request.

    Whoever asks has clients of their own over them: no header and no cookie is shared by people.
    Event streams have connections of their own: for each request, httpx examines all that are
    open, and of a hundred open pages each holds one.
    """

    def __init__(self) -> None:
        self._calls: httpx.AsyncBaseTransport | None = None
        self._streams: httpx.AsyncBaseTransport | None = None

    def of(self, connection: HTTPConnection, *, is_unattended: bool = False) -> "CallersApi":
        """Return the API for the person whose browser asks, once the gate has let it through."""
        return self.as_caller(token_of(connection.cookies), is_unattended=is_unattended)

    def as_caller(self, token: str | None, *, is_unattended: bool = False) -> "CallersApi":
        """Return the API for a token's holder; with None, for nobody in particular.

        `is_unattended`: an open page calls by itself.
        """
        self._calls = self._calls or _transport()
        self._streams = self._streams or _transport()
        headers = {**authorization(token), **(UNATTENDED if is_unattended else {}), **naming()}
        return CallersApi(_client(self._calls, headers), _client(self._streams, headers))


class CallersApi:
    """The API as one caller: `calls` are answered at once, `streams` are of events.

    Paths are relative to the versioned API root.
    """

    def __init__(self, calls: httpx.AsyncClient, streams: httpx.AsyncClient) -> None:
        self.calls = calls
        self.streams = streams


def _transport() -> httpx.AsyncBaseTransport:
    inner = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_connections=None))
    return AsyncReplicaTransport(Replicas(api_servers()), inner)


def _client(transport: httpx.AsyncBaseTransport, headers: dict[str, str]) -> httpx.AsyncClient:
    base_url = f"{api_servers()[0]}/api/v1/"
    return httpx.AsyncClient(base_url=base_url, transport=transport, headers=headers)
