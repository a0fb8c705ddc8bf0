"""A credential that stands in a domain as it is: refused when saved, masked wherever it is read."""

import json
from typing import Any
from uuid import uuid4

import pytest

from backend.domains.credentials import MASK
from backend.types import JSON
from tests.integration.scenes import check_problem, make_domain, make_session
from tests.integration.tools.test_mcp_allowed import put_aside
from tests.stack import Stack

CANARY = "c4n4ry-0f-yesterday"
HTTP = {"transport": "streamable_http", "url": "http://127.0.0.1:1/mcp"}
STORED: JSON = {
    "bearer": {**HTTP, "headers": {"Authorization": f"Bearer {CANARY}", "X-Tenant": "mine"}},
    "query": {**HTTP, "url": f"http://me:{CANARY}@127.0.0.1:1/mcp?api_key={CANARY}&page=1"},
    "child": {
        "transport": "stdio",
        "command": "c",
        "args": [f"--token={CANARY}", "--password", CANARY],
        "env": {"DB_PASSWORD": CANARY},
    },
}


@pytest.fixture
def domain(stack: Stack) -> JSON:
    """A domain of an earlier version, which took credentials as they were."""
    made = make_domain(stack, mcp_servers={"s": HTTP})
    put_aside(stack, made, STORED)
    stack.query_and_commit(
        "UPDATE domain_versions SET template = jsonb_set(template, '{mcp_servers}',"
        " CAST(:s AS jsonb)) WHERE domain_id = :id",
        s=json.dumps(STORED),
        id=made["id"],
    )
    return made


def stored(stack: Stack, domain: JSON) -> JSON:
    (row,) = stack.query("SELECT template FROM domains WHERE id = :id", id=domain["id"])
    return row[0]["mcp_servers"]


@pytest.mark.parametrize("name", STORED)
def test_a_literal_credential_is_refused_and_not_repeated(stack: Stack, name: str) -> None:
    body = {"name": f"new-{uuid4().hex[:8]}", "mcp_servers": {"s": STORED[name]}}

    problem = check_problem(stack.client.post("/domains", json=body), 422)
    check = stack.client.post("/domains/check", json=body)

    assert "${COLLOQUY_SECRET_" in problem["detail"]
    assert check.json()["faults"] and CANARY not in problem["detail"] + check.text


def test_nobody_reads_a_stored_credential(stack: Stack, domain: JSON) -> None:
    session_id = make_session(stack, domain["id"])
    stack.chat("hello", session_id)
    changed = {"description": "changed", "mcp_servers": {}}
    path = f"/domains/{domain['id']}"

    read = {
        "list": stack.client.get("/domains?limit=200"),
        "one": stack.client.get(path),
        "version": stack.client.get(f"{path}/versions/1"),
        "image": stack.client.get(f"/sessions/{session_id}/image"),
        "servers": stack.client.get(f"{path}/servers"),
        "kept": stack.client.patch(path, json={"description": "kept"}),
        "duplicate": stack.client.post(f"{path}/duplicate", json={"name": "copy"}),
        "changed": stack.client.patch(path, json=changed),
        "older": stack.client.get(f"{path}/versions/1"),
        "drift": stack.client.get(f"/sessions/{session_id}/drift"),
        "restore": stack.client.post(f"{path}/versions/1/restore"),
        "inspection": stack.client.get(f"/sessions/{session_id}/inspection"),
        "messages": stack.client.get(f"/sessions/{session_id}/messages"),
        "calls": stack.client.get(f"/sessions/{session_id}/calls"),
        "session": stack.client.get(f"/sessions/{session_id}"),
    }

    refused = {"duplicate", "restore"}
    assert {name for name, answer in read.items() if answer.status_code == 422} == refused
    assert [name for name, answer in read.items() if CANARY in answer.text] == []
    for name in ("list", "one", "version", "image", "kept", "drift"):
        assert MASK in read[name].text, name
    assert CANARY not in str(stack.query("SELECT details FROM audit_events"))
    assert CANARY not in stack.log.read_text()


def test_a_mask_that_is_sent_back_keeps_what_is_stored(stack: Stack, domain: JSON) -> None:
    read = stack.client.get(f"/domains/{domain['id']}").json()

    body = {"description": "new", "mcp_servers": read["mcp_servers"]}
    body["mcp_servers"]["bearer"]["call_seconds"] = 9
    answer = stack.client.patch(f"/domains/{domain['id']}", json=body)

    assert answer.status_code == 200, answer.text
    assert CANARY not in answer.text
    bearer = {**STORED["bearer"], "call_seconds": 9}
    assert stored(stack, domain) == {**STORED, "bearer": bearer}


@pytest.mark.parametrize(
    "change",
    [
        {"url": "http://127.0.0.1:2/mcp"},
        {"headers": {"Authorization": f"Bearer {MASK}", "X-Tenant": "other"}},
        {"headers": {"X-Tenant": MASK}},
    ],
)
def test_a_mask_elsewhere_is_refused(stack: Stack, domain: JSON, change: dict[str, Any]) -> None:
    read = stack.client.get(f"/domains/{domain['id']}").json()

    servers = read["mcp_servers"]
    servers["bearer"] |= change
    answer = stack.client.patch(f"/domains/{domain['id']}", json={"mcp_servers": servers})

    assert MASK in check_problem(answer, 422)["detail"]
    assert stored(stack, domain) == STORED


def test_a_stored_credential_can_be_given_up_for_a_name(stack: Stack, domain: JSON) -> None:
    named = {**STORED["bearer"], "headers": {"Authorization": "Bearer ${COLLOQUY_SECRET_X}"}}

    answer = stack.client.patch(f"/domains/{domain['id']}", json={"mcp_servers": {"bearer": named}})

    assert answer.status_code == 200, answer.text
    assert stored(stack, domain) == {"bearer": named}
