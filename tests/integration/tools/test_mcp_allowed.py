"""Which tool servers a domain may have is for the operator to say: at saving, and in the worker."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_problem, check_views, list_all, make_domain, make_session
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

SHELL = {"transport": "stdio", "command": "sh", "args": ["-c", "exit"]}
LOADED = {"transport": "stdio", "command": "c", "env": {"LD_PRELOAD": "/tmp/x.so"}}


def put_aside(stack: Stack, domain: JSON, servers: JSON) -> None:
    """Write into the database what was allowed before the operator changed the settings."""
    stack.query_and_commit(
        "UPDATE domains SET template = jsonb_set(template, '{mcp_servers}', CAST(:s AS jsonb))"
        " WHERE id = :id",
        s=json.dumps(servers),
        id=domain["id"],
    )


@pytest.mark.parametrize(
    ("server", "field", "said"),
    [(SHELL, "command", "STDIO_COMMANDS"), (LOADED, "env", "LD_PRELOAD")],
)
def test_a_command_that_is_not_allowed_is_never_saved(
    stack: Stack, server: JSON, field: str, said: str
) -> None:
    domain = make_domain(stack, description="before")
    legacy = make_domain(stack)
    put_aside(stack, legacy, {"s": server})
    bodies = {"mcp_servers": {"s": server}}
    name = f"new-{uuid4().hex[:8]}"

    refused = [
        stack.client.post("/domains", json={"name": name, **bodies}),
        stack.client.patch(f"/domains/{domain['id']}", json={"description": "after", **bodies}),
        stack.client.post(f"/domains/{legacy['id']}/duplicate", json={"name": name}),
        stack.client.patch(f"/domains/{legacy['id']}", json={"description": "after"}),
    ]
    check = stack.client.post("/domains/check", json={"name": name, **bodies}).json()

    for answer in refused:
        assert said in check_problem(answer, 422)["detail"]
    (fault,) = check["faults"]
    assert fault["path"] == ["mcp_servers", "s", field] and said in fault["message"]
    assert check["image"] is None
    assert stack.client.get(f"/domains/{domain['id']}").json() == domain
    names = [item["name"] for item in list_all(stack, "/domains")]
    assert name not in names


def test_an_earlier_version_with_such_a_command_is_not_restored(stack: Stack) -> None:
    domain = make_domain(stack, description="before")
    stack.client.patch(f"/domains/{domain['id']}", json={"description": "after"})
    stack.query_and_commit(
        "UPDATE domain_versions SET template = jsonb_set(template, '{mcp_servers}',"
        " CAST(:s AS jsonb), true) WHERE domain_id = :id AND version = 1",
        s=json.dumps({"s": SHELL}),
        id=domain["id"],
    )

    answer = stack.client.post(f"/domains/{domain['id']}/versions/1/restore")

    assert "STDIO_COMMANDS" in check_problem(answer, 422)["detail"]
    assert stack.client.get(f"/domains/{domain['id']}").json()["version"] == 2


def test_the_worker_starts_no_such_command_of_an_older_session(
    stack: Stack, tmp_path: Path
) -> None:
    marker = tmp_path / "it-ran"
    run = {**SHELL, "args": ["-c", f"touch {marker}"]}
    preload = {**LOADED, "command": "sleep", "args": ["1"]}
    with ToolServer([tool("say")], lambda *_: "said") as fine:
        domain = make_domain(stack, mcp_servers={"fine": fine.template})
        put_aside(stack, domain, {"fine": fine.template, "shell": run, "load": preload})
        session_id = make_session(stack, domain["id"])

        turn = stack.chat(script({"tools": [{"name": "say"}]}, {"text": "Said."}), session_id)
        report = stack.client.get(f"/domains/{domain['id']}/servers").json()
        drift = stack.client.get(f"/sessions/{session_id}/drift").json()

    assert turn["response"] == "Said."
    rows, _ = check_views(stack, session_id)
    told = [row["content"]["text"] for row in rows if row["content_type"] == "notice"]
    assert any("The tool server shell is missing: the operator has not" in said for said in told)
    assert any("LD_PRELOAD" in said for said in told)
    problems = {item["name"]: item["problem"] or "" for item in report["items"]}
    assert "STDIO_COMMANDS" in problems["shell"] and "LD_PRELOAD" in problems["load"]
    assert any("STDIO_COMMANDS" in warning for warning in drift["warnings"])
    assert not marker.exists()


class _Elsewhere(BaseHTTPRequestHandler):
    """Sends whoever comes to another address, and keeps what headers arrive there."""

    to = ""
    seen: list[JSON]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.seen.append({name.lower(): text for name, text in self.headers.items()})
        self.send_response(307 if self.to else 500)
        if self.to:
            self.send_header("location", self.to)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def address(to: str) -> Iterator[tuple[str, list[JSON]]]:
    seen: list[JSON] = []
    handler = type("Handler", (_Elsewhere,), {"to": to, "seen": seen})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp", seen
        server.shutdown()


def test_headers_do_not_follow_a_server_that_sends_us_elsewhere(
    stack: Stack, model: ScriptedModel
) -> None:
    with address("") as (other, arrived), address(other) as (url, asked):
        headers = {"X-Tenant": "mine"}
        server = {"transport": "streamable_http", "url": url, "headers": headers}
        session_id = make_session(stack, make_domain(stack, mcp_servers={"s": server})["id"])
        stack.chat(script({"text": "Without it."}), session_id)

    rows, _ = check_views(stack, session_id)
    (told,) = [row["content"]["text"] for row in rows if row["content_type"] == "notice"]
    assert "another address, which is not followed" in told and other not in told
    assert asked and asked[0]["x-tenant"] == "mine"
    assert arrived == []
