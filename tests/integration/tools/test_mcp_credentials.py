"""A credential that stands in a domain as it is, is refused when saved."""

from uuid import uuid4

import pytest

from backend.types import JSON
from tests.integration.scenes import check_problem
from tests.stack import Stack

CANARY = "c4n4ry-0f-yesterday"
HTTP = {"transport": "streamable_http", "url": "http://127.0.0.1:1/mcp"}
LITERAL: JSON = {
    "bearer": {**HTTP, "headers": {"Authorization": f"Bearer {CANARY}", "X-Tenant": "mine"}},
    "query": {**HTTP, "url": f"http://me:{CANARY}@127.0.0.1:1/mcp?api_key={CANARY}&page=1"},
    "child": {
        "transport": "stdio",
        "command": "c",
        "args": [f"--token={CANARY}", "--password", CANARY],
        "env": {"DB_PASSWORD": CANARY},
    },
}


@pytest.mark.parametrize("name", LITERAL)
def test_a_literal_credential_is_refused_and_not_repeated(stack: Stack, name: str) -> None:
    body = {"name": f"new-{uuid4().hex[:8]}", "mcp_servers": {"s": LITERAL[name]}}

    problem = check_problem(stack.client.post("/domains", json=body), 422)
    check = stack.client.post("/domains/check", json=body)

    assert "${COLLOQUY_SECRET_" in problem["detail"]
    assert check.json()["faults"] and CANARY not in problem["detail"] + check.text
