"""Opening tool servers as a run does, and calling their tools."""

import asyncio
import sys
import time
from contextlib import asynccontextmanager

from pydantic import TypeAdapter

from backend.schemas.domains.templates import McpServer
from backend.tools.mcp.servers import open_mcp_tools
from tests.runs import ALLOWED

SILENT = {"transport": "stdio", "command": "sleep", "args": ["30"]}
# A child process whose `LISTED` tools all say `TEXT`, between lines that are no messages.
TALKER = """
import json, sys
print("this server talks before it works", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, head = message["method"], {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"],
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in LISTED]}
    else:
        print("a line of a log", flush=True)
        result = {"content": [{"type": "text", "text": "TEXT"}]}
    text = json.dumps({**head, "result": result})
    sys.stdout.buffer.write(text.replace('"TEXT"', TEXT).encode("latin-1") + b"\\n")
    sys.stdout.flush()
"""


def servers(**templates):
    return {n: TypeAdapter(McpServer).validate_python(t) for n, t in templates.items()}


def talker(text='"fine"', listed=("say",)):
    program = f"LISTED = {list(listed)!r}\nTEXT = {text!r}\n{TALKER}"
    return {"transport": "stdio", "command": sys.executable, "args": ["-c", program]}


@asynccontextmanager
async def opened(**templates):
    async with open_mcp_tools(servers(**templates), allowed=ALLOWED) as served:
        assert served.warnings == (), served.warnings
        yield {t.name: t for t in served.tools}


def call_of(name, **arguments):
    return {"name": name, "args": arguments, "id": "c", "type": "tool_call"}


def ask(template, name="say", **arguments):
    """The result of one call, and how long it took."""

    async def go():
        async with opened(s=template) as tools:
            began = time.monotonic()
            result = await tools[name].ainvoke(call_of(name, **arguments))
            return result, time.monotonic() - began

    return asyncio.run(go())
