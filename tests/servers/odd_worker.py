"""A real worker with more built-in tools, which misbehave.

Run as `python -m tests.servers.odd_worker [SECONDS]`.

SECONDS: how long its agents' loop and its main thread may stand still. SIGUSR1 stops the latter,
SIGUSR2 has it hang in the last line of its life.
"""

import asyncio
import logging
import re
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from langchain_core.tools import StructuredTool

from backend.tools.registry import TOOLS, Effect, ToolSpec
from worker import process
from worker.__main__ import leave, main

HUGE = 300_000_000
DEEP: Any = "x"
for _ in range(5_000):
    DEEP = [DEEP]


def says(content: Any, artifact: Any = None) -> Callable[[], Any]:
    """A tool that gives this result."""

    async def odd() -> Any:
        return content, artifact

    return odd


async def fails() -> Any:
    """Raise what was not written for people."""
    raise RuntimeError("canary of an inner failure")


async def exits() -> Any:
    """End the process, or try to."""
    sys.exit(3)


async def deaf() -> Any:
    """Hang, and do not let go when told to."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue
    return "done", None


async def blocks() -> Any:
    """Hold all agents of the process up."""
    time.sleep(60)
    return "done", None


async def keeps_lock() -> Any:
    """Hold the whole interpreter up, for longer than any test."""
    return str(re.match("(a+)+$", "a" * 60 + "b")), None


def stuck() -> Any:
    """Hang in a thread, which nobody can end."""
    time.sleep(20)
    return "done", None


def hang() -> None:
    """Stand still for longer than any test."""
    time.sleep(600)


def hang_at_the_end(*_: Any) -> None:
    """Hang where the process has nothing left to do but to end; its patience is short."""
    process.ENDING_SECONDS = 2.0
    logging.shutdown = hang


ODD: dict[str, Callable[[], Any]] = {
    "fails": fails,
    "exits": exits,
    "deaf": deaf,
    "stuck": stuck,
    "blocks": blocks,
    "keeps_lock": keeps_lock,
    "huge": lambda: ("x" * HUGE, None),
    "huge_blocks": lambda: ([{"type": "text", "text": "x" * 1_000_000}] * 300, None),
    "huge_artifact": says("ok", {"x": ["y" * 1_000_000] * 300}),
    "nul": says("a\x00b"),
    "half": says("half \ud83d of it"),
    "nan": says({"n": float("nan")}, {"n": float("nan"), "i": float("-inf")}),
    "deep": says(DEEP, None),
    "deep_artifact": says("ok", {"x": DEEP}),
    "binary": says(bytes(range(256)), bytes(range(256))),
    "nothing": says(None),
    "no_pair": lambda: 7,
    "controls": says("\x1b[31m\x07\x7f \u202ebidi \u0000 e\u0301 \U0001f600"),
}


def _spec(name: str, work: Callable[[], Any]) -> ToolSpec:
    is_async = asyncio.iscoroutinefunction(work)
    tool = StructuredTool.from_function(
        None if is_async else work,
        work if is_async else None,
        name=name,
        description="A tool.",
        response_format="content_and_artifact",
    )
    return ToolSpec(lambda _: tool, Effect.ACTS)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, lambda *_: time.sleep(60))
    signal.signal(signal.SIGUSR2, hang_at_the_end)
    TOOLS.update({name: _spec(name, work) for name, work in ODD.items()})
    leave(main(*map(float, sys.argv[1:])))
