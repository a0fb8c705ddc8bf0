"""Retrying model calls beyond the client's own retries: for endpoints that fail for minutes."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import ModelRequest, ModelResponse, ModelRetryMiddleware
from langchain_core.messages import AIMessage
from pydantic import Field

from backend.agents.policy_context import PolicyContext
from backend.errors.models import ModelFailed
from backend.llm.events import Waiting
from backend.schemas.wire import Input

DOUBLED = 2.0

Handler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]


class ModelRetrySettings(Input):
    """A failed model call is retried if the failure may be temporary; people see the wait."""

    retries: int = Field(2, ge=1, le=20, description="How often it is retried.")
    seconds: float = Field(
        10.0, ge=0, le=600, description="Seconds before the first retry; doubled each time."
    )
    longest_seconds: float = Field(
        300.0, ge=0, le=3_600, description="The longest wait before a retry, in seconds."
    )


class ModelRetry(ModelRetryMiddleware[Any, Any]):
    """Wraps each model call, whose own retries only cover moments; people see the wait."""

    def __init__(self, settings: ModelRetrySettings, context: PolicyContext) -> None:
        super().__init__(
            max_retries=settings.retries,
            retry_on=is_transient,
            on_failure="error",
            backoff_factor=DOUBLED,
            initial_delay=settings.seconds,
            max_delay=settings.longest_seconds,
        )
        self._on_event = context.on_event

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Handler
    ) -> ModelResponse[Any] | AIMessage:
        """Ask the model; report each retry and its reason."""
        failures = 0

        async def ask(request: ModelRequest[Any]) -> ModelResponse[Any]:
            nonlocal failures
            try:
                return await handler(request)
            except ModelFailed as error:
                failures += 1
                if failures <= self.max_retries and is_transient(error):
                    seconds = self.initial_delay * DOUBLED ** (failures - 1)
                    self._on_event(Waiting(min(seconds, self.max_delay), error.detail))
                raise

        return await super().awrap_model_call(request, ask)


def is_transient(error: Exception) -> bool:
    """Return whether retrying may succeed: not after a wrong key or request."""
    return isinstance(error, ModelFailed) and error.is_transient
