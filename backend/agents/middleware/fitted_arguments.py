"""Fitting the arguments of each call to its tool, before anything else looks at them."""

from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest

from backend.agents.middleware.tool_guard import Handler, Result
from backend.agents.steps.arguments import fit_arguments
from backend.llm.chat_model import describe_tool


class FittedArguments(AgentMiddleware[Any, Any]):
    """Wraps each call, outside all others: a person decides on the arguments that the tool gets."""

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Result:
        """Run the call with arguments in the form of the tool's schema."""
        if request.tool is None:
            return await handler(request)
        call = request.tool_call
        schema = describe_tool(request.tool)["function"]["parameters"]
        fitted = fit_arguments(schema, call["args"])
        if fitted is not call["args"]:
            request = request.override(tool_call={**call, "args": fitted})
        return await handler(request)
