"""The calls of models and tools, as they are watched from where they are made."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from backend.telemetry import gen_ai
from backend.telemetry.figures import WORK, WorkFigures
from backend.telemetry.spans import Attributes, Kind, Span
from backend.telemetry.tracing import span


class CallResult(StrEnum):
    """How a call ended."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    WAITS = "waits"  # for people or tasks


@dataclass(frozen=True)
class ToolKind:
    """What a tool is counted as; `server`: the tool server that has it, if any."""

    name: str
    server: str | None = None

    @property
    def counted_as(self) -> str:
        """Return its value of a label: servers name their tools as they like, by the thousand."""
        return self.name if self.server is None else f"mcp:{self.server}"


@dataclass
class WatchedCall:
    """A call under way; whoever makes it says how it ended, unless it raises."""

    span: Span
    result: CallResult | None = None

    def note(self, attributes: Attributes) -> None:
        """Add what is known of it by now to its span."""
        self.span.note(attributes)


def model_call(model: str, work: WorkFigures = WORK) -> AbstractContextManager[WatchedCall]:
    """Count and trace the call of a model that the block makes."""
    known: Attributes = {
        gen_ai.OPERATION: "chat",
        gen_ai.PROVIDER: "openai",  # whose protocol all of them speak
        gen_ai.MODEL: model,
        gen_ai.STREAM: True,
    }
    return _watched(f"chat {model}", known, Kind.CLIENT, partial(work.model_called, model))


def tool_call(
    tool: ToolKind, call_id: str, work: WorkFigures = WORK
) -> AbstractContextManager[WatchedCall]:
    """Count and trace the call of a tool that the block makes."""
    known: Attributes = {
        gen_ai.OPERATION: "execute_tool",
        gen_ai.TOOL: tool.name,
        gen_ai.TOOL_TYPE: "extension" if tool.server else "function",
        gen_ai.TOOL_CALL: call_id,
        "colloquy.tool.server": tool.server,
    }
    count = partial(work.tool_called, tool.counted_as)
    return _watched(f"execute_tool {tool.name}", known, Kind.INTERNAL, count)


@contextmanager
def _watched(
    name: str, known: Attributes, kind: Kind, count: Callable[[CallResult, float], None]
) -> Iterator[WatchedCall]:
    begun, error_type = time.monotonic(), None
    with span(name, known, kind) as traced:
        call = WatchedCall(traced)
        try:
            yield call
        except BaseException as error:
            call.result = call.result or _result_of(error)
            error_type = type(error).__name__
            raise
        finally:
            result = call.result or CallResult.OK
            count(result, time.monotonic() - begun)
            traced.note({"colloquy.call.result": result})
            if result in (CallResult.FAILED, CallResult.TIMED_OUT):
                traced.fail(error_type or result)
            traced.end()  # before it sees what was raised, which need not be a failure


def _result_of(error: BaseException) -> CallResult:
    is_stopped = isinstance(error, asyncio.CancelledError)
    return CallResult.STOPPED if is_stopped else CallResult.FAILED
