"""Asks the model again after its own patience has ended: for endpoints that fail for minutes."""

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
    """A model that fails is asked again, if the failure may pass; people see the wait."""

    retries: int = Field(2, ge=1, le=20, description="How often it is asked again.")
    seconds: float = Field(
        10.0, ge=0, le=600, description="Seconds before the first try; doubled each time."
    )
    longest_seconds: float = Field(
        300.0, ge=0, le=3_600, description="Seconds before any try at most."
    )


class ModelRetry(ModelRetryMiddleware[Any, Any]):
    """Around each call of the model, whose own patience bridges moments; people see the wait."""

    def __init__(self, settings: ModelRetrySettings, context: PolicyContext) -> None:
        super().__init__(
            max_retries=settings.retries,
            retry_on=is_passing,
            on_failure="error",
            backoff_factor=DOUBLED,
            initial_delay=settings.seconds,
            max_delay=settings.longest_seconds,
        )
        self._on_event = context.on_event

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Handler
    ) -> ModelResponse[Any] | AIMessage:
        """Ask the model; say that and why it is asked again."""
        failures = 0

        async def ask(request: ModelRequest[Any]) -> ModelResponse[Any]:
            nonlocal failures
            try:
                return await handler(request)
            except ModelFailed as error:
                failures += 1
                if failures <= self.max_retries and is_passing(error):
                    seconds = self.initial_delay * DOUBLED ** (failures - 1)
                    self._on_event(Waiting(min(seconds, self.max_delay), error.detail))
                raise

        return await super().awrap_model_call(request, ask)


def is_passing(error: Exception) -> bool:
    """Whether a model that failed like this may answer later: not for a wrong key or request."""
    return isinstance(error, ModelFailed) and error.is_passing
