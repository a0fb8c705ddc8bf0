"""Letting the agent plan: a todo list in the state, ticked off as it works, shown to people."""

from typing import Any

from langchain.agents.middleware import TodoListMiddleware
from pydantic import Field

from backend.agents.state_tools import mark_state_only
from backend.schemas.wire import Input


class TodosSettings(Input):
    """The agent keeps a todo list and ticks items off as it works; people see it."""

    prompt: str | None = Field(None, description="The prompt about the list; absent: LangChain's.")


class Todos(TodoListMiddleware[Any, Any]):
    """LangChain's policy: a tool `write_todos`, and a section of the system prompt about it."""

    def __init__(self, settings: TodosSettings) -> None:
        super().__init__(**({"system_prompt": settings.prompt} if settings.prompt else {}))
        for tool in self.tools:
            mark_state_only(tool)
