"""Checking what a tool is called with and returns, where others keep the sandbox busy."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from langchain_core.tools import ToolException
from mcp.types import CallToolResult

from backend.sandbox.errors import OutOfTime, SandboxBusy
from backend.sandbox.messages import Bounds
from backend.sandbox.sandbox import Sandbox
from backend.tools.mcp.checks import SchemaChecks
from backend.tools.mcp.server import Server
from backend.tools.validation import BOUNDS
from backend.types import JSON

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
SERVER = cast(Server, SimpleNamespace(name="s", call_seconds=60.0))


class Failing:
    """A sandbox in which nothing is computed; `asked` are the words of the last request."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.asked: dict[str, Any] = {}

    async def run(self, *_: Any, **asked: Any) -> None:
        self.asked = asked
        raise self.error


def test_a_result_is_checked_once_there_is_room_and_not_given_up() -> None:
    sandbox = Sandbox()

    async def story() -> list[str | None]:
        """Occupy the slots for short work for longer than a check waits by itself."""
        short = Bounds(4.5, 300)
        others = [
            asyncio.ensure_future(
                sandbox.run(time.sleep, 1.5 * BOUNDS.seconds, bounds=short, key=str(n))
            )
            for n in range(4)
        ]
        await asyncio.sleep(0)
        checks = SchemaChecks(sandbox, "me")
        found = await asyncio.gather(
            checks.check_result(
                SERVER, SCHEMA, CallToolResult(content=[], structuredContent={"n": 1})
            ),
            checks.check_result(
                SERVER, SCHEMA, CallToolResult(content=[], structuredContent={"n": "one"})
            ),
        )
        await asyncio.gather(*others)
        return found

    fits, misfit = asyncio.run(story())
    sandbox.close()

    assert fits is None
    assert "(n: 'one'" in str(misfit)


@pytest.mark.parametrize(
    ("error", "words"), [(SandboxBusy(), "too much else"), (OutOfTime(), "within 2 seconds")]
)
def test_why_a_call_could_not_be_checked_is_told(error: Exception, words: str) -> None:
    sandbox = Failing(error)
    checks = SchemaChecks(cast(Sandbox, sandbox), "me")

    result = CallToolResult(content=[], structuredContent={})
    told = asyncio.run(checks.check_result(SERVER, SCHEMA, result))
    assert told and told.startswith("could not be checked") and words in told
    with pytest.raises(ToolException, match=f"{words}.*was not called"):
        asyncio.run(checks.check_arguments(SERVER, SCHEMA, {}))

    assert (sandbox.asked["key"], sandbox.asked["wait_seconds"]) == ("me", SERVER.call_seconds)


@pytest.mark.parametrize(
    ("schema", "arguments", "said"),
    [
        (SCHEMA, {"n": 1, "more": None}, None),
        (SCHEMA, {"n": "1"}, "n: '1' is not of type 'integer'"),
        ({"type": "object", "required": ["n"]}, {}, "'n' is a required property"),
        ({"type": "object", "minProperties": 1}, {}, "non-empty"),
        ({"type": "object", "additionalProperties": False}, {"n": 1}, "not allowed: 'n'"),
        ({"type": "object", "properties": {}, "title": "Any"}, {"n": 1}, None),
    ],
)
def test_arguments_that_do_not_fit_are_refused_before_the_call(
    schema: JSON, arguments: JSON, said: str | None
) -> None:
    sandbox = Sandbox()
    asked = SchemaChecks(sandbox, "me").check_arguments(SERVER, schema, arguments)

    if said is None:
        asyncio.run(asked)
    else:
        with pytest.raises(ToolException, match=f"{said}.*was not called"):
            asyncio.run(asked)
    sandbox.close()


def test_a_schema_that_allows_everything_costs_nothing() -> None:
    sandbox = Failing(SandboxBusy())
    schema = {"type": "object", "properties": {}, "additionalProperties": True}

    asyncio.run(
        SchemaChecks(cast(Sandbox, sandbox), "me").check_arguments(SERVER, schema, {"n": 1})
    )

    assert sandbox.asked == {}
