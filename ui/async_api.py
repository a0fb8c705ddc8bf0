"""The API clients of the pages' own routes, which serve all browsers from one event loop."""

import os

import httpx

from ui.client import DEFAULT_API_URL


class AsyncApi:
    """Two HTTP clients for all browsers, made in the event loop of the first request.

    Paths are relative to the versioned API root. Event streams have a client of their own: for each
    request, httpx examines all connections of a client, and of a hundred open pages each holds one.
    """

    def __init__(self) -> None:
        self._calls: httpx.AsyncClient | None = None
        self._streams: httpx.AsyncClient | None = None

    def calls(self) -> httpx.AsyncClient:
        """Return the client for calls that are answered at once."""
        self._calls = self._calls or _client()
        return self._calls

    def streams(self) -> httpx.AsyncClient:
        """Return the client for event streams."""
        self._streams = self._streams or _client()
        return self._streams


def _client() -> httpx.AsyncClient:
    url = (os.environ.get("API_URL") or DEFAULT_API_URL).rstrip("/")
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(base_url=f"{url}/api/v1/", limits=limits)
