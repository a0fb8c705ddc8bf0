"""The calls of models and tools, as they are watched from where they are made."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from backend.telemetry.figures import WORK, WorkFigures


class CallResult(StrEnum):
    """How a call ended."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    WAITS = "waits"  # for people or tasks


@dataclass
class WatchedCall:
    """A call under way; whoever makes it says how it ended, unless it raises."""

    result: CallResult | None = None


@contextmanager
def tool_call(tool: str, work: WorkFigures = WORK) -> Iterator[WatchedCall]:
    """Count the call of a tool that the block makes."""
    call, begun = WatchedCall(), time.monotonic()
    try:
        yield call
    except BaseException as error:
        call.result = call.result or result_of(error)
        raise
    finally:
        work.tool_called(tool, call.result or CallResult.OK, time.monotonic() - begun)


def result_of(error: BaseException) -> CallResult:
    """Return how a call has ended that raised this."""
    is_stopped = isinstance(error, asyncio.CancelledError)
    return CallResult.STOPPED if is_stopped else CallResult.FAILED
