"""What several integration tests set up: domains with tools, and what the views then hold."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx

from backend.types import JSON
from tests.fakes import find_disorder
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack


def make_domain(stack: Stack, **template: Any) -> JSON:
    """Store a domain of an unused name; give it as the API does."""
    name = f"domain-{uuid4().hex[:8]}"
    made = stack.client.post("/domains", json={"name": name, **template})
    assert made.status_code == 201, made.text
    return made.json()


def list_all(stack: Stack, path: str, **params: Any) -> list[JSON]:
    """Return a list's items from all of its pages: other tests' are among them, too."""
    items: list[JSON] = []
    cursor: JSON = {}
    while True:
        page = stack.client.get(path, params={"limit": 200, **params, **cursor}).json()
        items += page["items"]
        if page["next_cursor"] is None:
            return items
        cursor = {"cursor": page["next_cursor"]}


def make_session(stack: Stack, domain: str | None = None, title: str | None = None) -> str:
    """Make an empty session; give its id."""
    made = stack.client.post("/sessions", json={"domain": domain, "title": title})
    assert made.status_code == 201, made.text
    return made.json()["id"]


def continued(stack: Stack, session_id: str, **body: str) -> JSON:
    """Go on with a session in a new one; give that one."""
    answer = stack.client.post(f"/sessions/{session_id}/continue", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


@contextmanager
def tool_domain(
    stack: Stack, answer: Callable[[str, JSON], Any], *names: str, **fields: Any
) -> Iterator[tuple[JSON, ToolServer]]:
    """A domain whose tools `answer`, and the server that counts their calls."""
    with ToolServer([tool(name) for name in names], answer) as server:
        yield make_domain(stack, mcp_servers={"tools": server.template}, **fields), server


def stop(stack: Stack, turn_id: str) -> JSON:
    """Stop a turn; give what the API says of it then."""
    answer = stack.client.post(f"/turns/{turn_id}/stop")
    assert answer.status_code == 200, answer.text
    return answer.json()


def wait_for_event(stack: Stack, session_id: str, name: str) -> JSON:
    """Follow a session until an event of this name comes."""
    with stack.events(session_id) as events:
        return next(event for event in events if event["event"] == name)


def send_json(stack: Stack, method: str, path: str, body: Any) -> httpx.Response:
    """Send any JSON, also with lone surrogates, which httpx refuses to write."""
    headers = {"Content-Type": "application/json"}
    return stack.client.request(method, path, content=json.dumps(body), headers=headers)


class Gate:
    """A tool that waits until it is let go; for the test's thread and the server's loop."""

    def __init__(self) -> None:
        self.is_open = False

    async def answer(self, name: str, _: JSON) -> str:
        while not self.is_open:
            await asyncio.sleep(0.02)
        return f"{name} is done"


def check_views(stack: Stack, session_id: str) -> tuple[list[JSON], JSON]:
    """Both views of a session, after checking what must hold at any commit."""
    rows, state = stack.messages(session_id), stack.state(session_id)
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    assert find_disorder(state["messages"]) is None
    session = stack.client.get(f"/sessions/{session_id}").json()
    assert session["message_count"] == len(rows)
    return rows, state


def check_problem(answer: httpx.Response, status: int) -> JSON:
    """The problem details of an error answer, after checking their shape."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert set(problem) >= {"type", "title", "status", "detail"}
    assert problem["title"] and problem["detail"]
    return problem


def texts(rows: list[JSON], speaker: str) -> list[str]:
    """What a speaker has said, as text."""
    kinds = (speaker, "text")
    return [
        row["content"]["text"]
        for row in rows
        if (row["message_type"], row["content_type"]) == kinds
    ]
