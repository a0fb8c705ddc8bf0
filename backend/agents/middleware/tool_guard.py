"""Always present: a tool's result enters the conversation clean, and its failure is readable."""

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import ToolException
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from backend.errors import AppError
from backend.llm.clean import clean

MAX_RESULT_CHARS = 1_000_000
MAX_ERROR_CHARS = 2_000
_CREDENTIALS = re.compile(r"://[^/@\s]+@")
_SPEAKING = (AppError, ToolException, ValueError, LookupError, TimeoutError)

logger = logging.getLogger(__name__)


class ToolGuard(AgentMiddleware[Any, Any]):
    """Turns each failure of a tool into an error result; adds nothing to the messages otherwise."""

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the tool; GraphBubbleUp is no failure but LangGraph's way to interrupt."""
        try:
            result = await handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001  # an edge: the model reads it
            result = _error_result(request, error)
        return _tidy(result) if isinstance(result, ToolMessage) else result


def _error_result(request: ToolCallRequest, error: Exception) -> ToolMessage:
    name = request.tool_call["name"]
    logger.warning("tool failed", extra={"tool": name, "error": type(error).__name__})
    return ToolMessage(
        content=_sentence(name, error),
        tool_call_id=request.tool_call["id"],
        name=name,
        status="error",
    )


def _sentence(tool: str, error: Exception) -> str:
    """Say what happened; only errors whose text was written to be read are quoted."""
    said = str(error).strip() if isinstance(error, _SPEAKING) else ""
    if not said:
        return f"The tool {tool} failed ({type(error).__name__})."
    return _CREDENTIALS.sub("://…@", said)[:MAX_ERROR_CHARS]


def _tidy(result: ToolMessage) -> ToolMessage:
    content = clean(result.content)
    if isinstance(content, str) and len(content) > MAX_RESULT_CHARS:
        note = f"\n[cut here: the result has {len(content)} characters]"
        content = content[:MAX_RESULT_CHARS] + note
    changes = {
        "content": content,
        "artifact": clean(result.artifact),
        "id": result.id or str(uuid4()),
    }
    return result.model_copy(update=changes)
