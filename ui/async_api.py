"""The API client of the pages' own routes, which serve all browsers from one event loop."""

import os

import httpx

from ui.client import DEFAULT_API_URL


class AsyncApi:
    """One HTTP client for all browsers, made in the event loop of the first request."""

    def __init__(self) -> None:
        self._http: httpx.AsyncClient | None = None

    def client(self) -> httpx.AsyncClient:
        """Return the client; paths are relative to the versioned API root."""
        if self._http is None:
            url = (os.environ.get("API_URL") or DEFAULT_API_URL).rstrip("/")
            self._http = httpx.AsyncClient(
                base_url=f"{url}/api/v1/", limits=httpx.Limits(max_connections=None)
            )
        return self._http
