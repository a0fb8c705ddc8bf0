"""Lets the agent plan: a list of todos in the state, ticked off as it works, shown to people."""

from typing import Any

from langchain.agents.middleware import TodoListMiddleware
from pydantic import Field

from backend.agents.state_tools import mark_state_only
from backend.schemas.wire import Input


class TodosSettings(Input):
    """The agent keeps a list of what it is about to do, and ticks it off; people see it."""

    prompt: str | None = Field(
        None, description="How the agent is told to use its list; absent: LangChain's own words."
    )


class Todos(TodoListMiddleware[Any, Any]):
    """LangChain's own: a tool `write_todos`, and a part of the system prompt about it."""

    def __init__(self, settings: TodosSettings) -> None:
        super().__init__(**({"system_prompt": settings.prompt} if settings.prompt else {}))
        for tool in self.tools:
            mark_state_only(tool)
