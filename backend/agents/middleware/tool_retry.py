"""Retrying failed tool calls where that is harmless."""

from typing import Any

from langchain.agents.middleware import ToolCallRequest, ToolRetryMiddleware
from langchain_core.messages import ToolMessage
from langgraph.types import Command
from pydantic import Field

from backend.agents.middleware.tool_guard import Handler
from backend.agents.steps.tool_calls import effect_of
from backend.schemas.wire import Input
from backend.tools.registry import Effect


class ToolRetrySettings(Input):
    """A tool call that failed is retried, unless the tool acts."""

    retries: int = Field(2, ge=1, le=10, description="How often it is retried.")
    seconds: float = Field(
        1.0, ge=0, le=60, description="Seconds before the first retry; doubled each time."
    )
    longest_seconds: float = Field(
        30.0, ge=0, le=300, description="The longest wait before a retry, in seconds."
    )
    tools: list[str] | None = Field(
        None, min_length=1, description="Which tools; absent: all of them."
    )


class ToolRetry(ToolRetryMiddleware[Any, Any]):
    """Runs inside the guard's journal and time limit, so that all tries count as one call.

    A tool that acts is never called a second time: the first try may have taken effect. Tools that
    report a fault in the call have not failed.
    """

    def __init__(self, settings: ToolRetrySettings) -> None:
        super().__init__(
            max_retries=settings.retries,
            tools=list(settings.tools) if settings.tools else None,
            on_failure="error",
            initial_delay=settings.seconds,
            max_delay=settings.longest_seconds,
        )

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Handler
    ) -> ToolMessage | Command[Any]:
        """Run the tool, and retry if it failed and that is harmless."""
        if effect_of(request.tool) is Effect.ACTS:
            return await handler(request)
        return await super().awrap_tool_call(request, handler)
