"""An API with accounts that really listens, beside a stack's own; its workers run the turns."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from backend.types import JSON
from tests.processes import free_port, kill_process
from tests.stack import Stack, read_events

LONG = 60.0  # seconds; far less than an endless answer lasts


@contextmanager
def served(stack: Stack) -> Iterator[str]:
    """Start the API, and give its address."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/api/v1"
    api = stack.start("-m", "backend.api", "--port", str(port), AUTH="local")
    try:
        stack.wait_for(lambda: _answers(url), "the API with accounts does not answer")
        yield url
    finally:
        kill_process(api)


@contextmanager
def following(url: str, token: str, session_id: str, **params: str) -> Iterator[Iterator[JSON]]:
    """Follow a session as this person."""
    headers = {"Authorization": f"Bearer {token}"}
    path = f"{url}/sessions/{session_id}/events"
    with httpx.stream("GET", path, headers=headers, params=params, timeout=LONG) as response:
        assert response.status_code == 200, response.read()
        lines = response.iter_lines()
        assert next(lines).startswith(":")
        yield read_events(lines)


def token_of(client: httpx.Client) -> str:
    """The token that a client sends."""
    return client.headers["Authorization"].removeprefix("Bearer ")


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/sign-in-ways", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False
