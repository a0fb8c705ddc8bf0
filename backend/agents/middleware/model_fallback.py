"""Letting another model answer when the agent's own fails."""

from typing import Any

from langchain.agents.middleware import ModelFallbackMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from pydantic import Field

from backend.agents.middleware.model_retry import Handler
from backend.agents.policy_context import Notice, PolicyContext
from backend.errors.models import ModelFailed
from backend.schemas.bounds import ModelName
from backend.schemas.wire import Input


class ModelFallbackSettings(Input):
    """Other models answer when the agent's own fails, and a notice says so."""

    models: list[ModelName] = Field(
        min_length=1, max_length=10, description="Models to ask instead, in this order."
    )


class ModelFallback(ModelFallbackMiddleware[Any]):
    """LangChain's policy, with a notice of which model failed and why."""

    def __init__(self, settings: ModelFallbackSettings, context: PolicyContext) -> None:
        super().__init__(*(context.speaking_model(name) for name in settings.models))
        self._tell = context.tell

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Handler
    ) -> ModelResponse[Any] | AIMessage:
        """Ask the model, then the others until one answers."""
        failed: list[str] = []
        asked = ""

        async def ask(request: ModelRequest[Any]) -> ModelResponse[Any]:
            nonlocal asked
            asked = str(getattr(request.model, "model_name", "another model"))
            try:
                return await handler(request)
            except ModelFailed as error:
                failed.append(f"The model {asked} did not answer: {error.detail}")
                raise

        answer = await super().awrap_model_call(request, ask)
        if failed:
            self._tell(Notice(" ".join([*failed, f"The model {asked} answers instead."])))
        return answer
