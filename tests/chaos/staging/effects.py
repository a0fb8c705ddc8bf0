"""A tool server whose tools have effects that are counted by key, and that fail on order."""

import asyncio
import threading
import time
from dataclasses import replace

from mcp.types import CallToolResult, Tool, ToolAnnotations

from backend.types import JSON
from tests.chaos.staging.records import Ran
from tests.servers.tool import ToolServer, text_result

SCHEMA: JSON = {
    "type": "object",
    "properties": {
        "key": {"type": "string"},
        "seconds": {"type": "number"},
        "does": {"enum": ["well", "error", "huge", "odd"]},
    },
    "required": ["key"],
}
ODD = "nul \x00, half \ud83d, bidi \u202e, escape \x1b[31m"
HUGE = 300_000


def _tool(name: str, **hints: bool) -> Tool:
    hinted = ToolAnnotations(**hints) if hints else None
    return Tool(name=name, description="A tool.", inputSchema=SCHEMA, annotations=hinted)


TOOLS = (
    _tool("act"),
    _tool("pay"),
    _tool("look", readOnlyHint=True),
    _tool("put", idempotentHint=True),
)


class Effects:
    """Counts what was done, by the key that each call carries."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.ran: list[Ran] = []
        self._lock = threading.Lock()
        self.server = ToolServer(TOOLS, self._answer, host=host)

    def __enter__(self) -> "Effects":
        self.server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()

    def count(self, key: str) -> int:
        """How often the call of this key was run."""
        with self._lock:
            return sum(ran.key == key for ran in self.ran)

    def wait_for(self, name: str, seconds: float = 30, ended: bool = False) -> Ran:
        """Wait until a tool of this name has begun, or ended."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for ran in list(self.ran):
                if ran.name == name and (ran.ended or not ended):
                    return ran
            time.sleep(0.01)
        raise AssertionError(f"no {name!r} was called")

    async def _answer(self, name: str, arguments: JSON) -> CallToolResult:
        key = str(arguments.get("key"))
        with self._lock:
            place = len(self.ran)
            self.ran.append(Ran(time.time(), name, key))
        await asyncio.sleep(float(arguments.get("seconds", 0)))
        with self._lock:
            self.ran[place] = replace(self.ran[place], ended=time.time())
        return _result(name, key, str(arguments.get("does", "well")))


def _result(name: str, key: str, does: str) -> CallToolResult:
    if does == "error":
        return text_result(f"{name} {key} cannot be done", is_error=True)
    if does == "huge":
        return text_result(f"done {key} " + "x" * HUGE)
    return text_result(f"done {key}" + (f" {_sendable(ODD)}" if does == "odd" else ""))


def _sendable(text: str) -> str:
    """Without what JSON over HTTP cannot carry at all."""
    return text.encode("utf-8", "replace").decode()
