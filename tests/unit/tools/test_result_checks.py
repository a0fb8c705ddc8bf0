"""Checking a tool's result where others keep the sandbox busy."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from langchain_core.tools import ToolException

from backend.sandbox.errors import OutOfTime, TooBusy
from backend.sandbox.messages import Bounds
from backend.sandbox.sandbox import Sandbox
from backend.tools.mcp.results.checks import ResultChecks
from backend.tools.mcp.server import Server
from backend.tools.validation import BOUNDS

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
        checks = ResultChecks(sandbox, "me")
        found = await asyncio.gather(
            checks.find_misfit(SERVER, SCHEMA, {"n": 1}),
            checks.find_misfit(SERVER, SCHEMA, {"n": "one"}),
        )
        await asyncio.gather(*others)
        return found

    fits, misfit = asyncio.run(story())
    sandbox.close()

    assert fits is None
    assert misfit and misfit.startswith("n: 'one'")


@pytest.mark.parametrize(
    ("error", "words"), [(TooBusy(), "too much else"), (OutOfTime(), "within 2 seconds")]
)
def test_why_a_result_could_not_be_checked_is_told(error: Exception, words: str) -> None:
    sandbox = Failing(error)

    with pytest.raises(ToolException, match=words):
        asyncio.run(ResultChecks(cast(Sandbox, sandbox), "me").find_misfit(SERVER, SCHEMA, {}))

    assert (sandbox.asked["key"], sandbox.asked["wait_seconds"]) == ("me", SERVER.call_seconds)
