"""What a tool server repeats of its own secrets: nobody gets it, only the secret's name."""

import asyncio
import json
import sys
from collections.abc import Iterator

import pytest

from backend.domains.allowed import Allowed
from backend.domains.commands import Commands
from backend.domains.secrets import Secrets
from backend.outgoing.policy import Outgoing
from backend.tools.mcp.servers import open_mcp_tools
from tests.integration.tools.mcp_calls import call_of, servers
from tests.servers.tool import ToolServer, tool

VALUE = 'c4n4ry-"quoted"-value'
SHORT = "12345"
NAME = "${COLLOQUY_SECRET_TOKEN}"
ENVIRONMENT = {"COLLOQUY_SECRET_TOKEN": VALUE, "COLLOQUY_SECRET_SHORT": SHORT}
# A child process that tells its secret in all that it can send, its log included.
TELLER = """
import json, os, sys
secret = os.environ["TOKEN"]
print("starting with", secret, file=sys.stderr, flush=True)
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, head = message["method"], {"id": message["id"]}
    if method == "initialize":
        send(**head, result={"protocolVersion": message["params"]["protocolVersion"],
             "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}})
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"x": {"description": secret}}}
        send(**head, result={"tools": [
            {"name": name, "description": "Uses " + secret, "inputSchema": schema}
            for name in ("tell", "fail", "refuse")]})
    elif message["params"]["name"] == "refuse":
        send(**head, error={"code": -32000, "message": "No access with " + secret})
    else:
        token = message["params"]["_meta"]["progressToken"]
        send(method="notifications/progress", params={
            "progressToken": token, "progress": 1, "message": "Asking with " + secret})
        send(**head, result={
            "content": [{"type": "text", "text": json.dumps({"sent": secret})}],
            "structuredContent": {secret: [secret, 1]},
            "isError": message["params"]["name"] == "fail"})
"""


@pytest.fixture
def allowed() -> Allowed:
    secrets = Secrets(("COLLOQUY_SECRET_*",), lambda: ENVIRONMENT)
    return Allowed(secrets, Commands(((sys.executable,),)), Outgoing(permits_inside=True))


@pytest.fixture
def header_server() -> Iterator[ToolServer]:
    """A server over HTTP that quotes what it was sent."""
    quoted = f"401 for Bearer {VALUE}, attempt {SHORT}"
    with ToolServer([tool("quote")], lambda *_: quoted) as server:
        yield server


def teller() -> dict[str, object]:
    env = {"TOKEN": "${COLLOQUY_SECRET_TOKEN}"}
    return {"transport": "stdio", "command": sys.executable, "args": ["-c", TELLER], "env": env}


def call(template, allowed, name):
    """The tool, its result and its progress."""
    said = []

    async def go():
        opening = open_mcp_tools(
            servers(s=template), allowed=allowed, on_progress=lambda _, text: said.append(text)
        )
        async with opening as served:
            tools = {one.name: one for one in served.tools}
            return tools[name], await tools[name].ainvoke(call_of(name))

    return *asyncio.run(go()), said


@pytest.mark.parametrize("name", ["tell", "fail"])
def test_a_result_names_the_secret(allowed: Allowed, name: str) -> None:
    _, result, said = call(teller(), allowed, name)

    assert result.status == ("error" if name == "fail" else "success")
    assert json.loads(result.content) == {"sent": NAME}
    assert result.artifact["structured"] == {NAME: [NAME, 1]}
    assert said == [f"Asking with {NAME} (1)"]


def test_a_refusal_names_the_secret(allowed: Allowed) -> None:
    _, result, _ = call(teller(), allowed, "refuse")

    assert result.status == "error" and f"No access with {NAME}" in result.content


def test_a_description_names_the_secret(allowed: Allowed) -> None:
    listed, _, _ = call(teller(), allowed, "tell")

    assert listed.description == f"Uses {NAME}"
    assert listed.args_schema["properties"]["x"] == {"description": NAME}


def test_a_log_names_the_secret(allowed: Allowed, capfd: pytest.CaptureFixture[str]) -> None:
    call(teller(), allowed, "tell")

    log = ""
    while not log.endswith("\n"):  # it is copied beside the turn
        log += capfd.readouterr().err
    assert log == f"starting with {NAME}\n"


def test_a_header_s_secret_is_named_and_what_is_too_short_to_be_one_stays(
    allowed: Allowed, header_server: ToolServer
) -> None:
    headers = {"Authorization": "Bearer ${COLLOQUY_SECRET_TOKEN}", "X-Attempt": SHORT}
    template = {**header_server.template, "headers": {**headers, "X-S": "${COLLOQUY_SECRET_SHORT}"}}

    _, result, _ = call(template, allowed, "quote")

    assert result.content == f"401 for Bearer {NAME}, attempt {SHORT}"


def test_a_result_without_secrets_stays_as_it_is(allowed: Allowed) -> None:
    with ToolServer([tool("say")], lambda *_: "fine") as server:
        template = {**server.template, "headers": {"X-S": "${COLLOQUY_SECRET_TOKEN}"}}

        _, result, _ = call(template, allowed, "say")

    assert result.content == "fine" and result.artifact is None
