"""Letting the agent plan: a todo list in the state, ticked off as it works, shown to people."""

from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentState, TodoListMiddleware
from langchain.agents.middleware.todo import WRITE_TODOS_SYSTEM_PROMPT, Todo
from pydantic import Field

from backend.agents.state_tools import mark_state_only
from backend.schemas.wire import Input
from colloquy_kit.messages.todos import keep_ids

# LangChain's has 3,873 characters, of which endpoints take 1,024; the prompt says the rest.
DESCRIPTION = """Keep a list of todos for the current work: each call replaces the whole list.

Use it for work of three or more steps, for several tasks at once, or when the user asks for it; \
not for a question or a task that takes fewer steps.

- Mark an item in_progress before you begin with it, and completed as soon as it is done. Until \
all are completed, at least one is in_progress; independent ones can be so together.
- Mark an item completed only if it is done entirely. If something is missing, failed or blocked, \
leave it in_progress and add an item that says what has to be resolved.
- Add what turns out to be needed, remove what no longer matters, and leave completed items as \
they are. Items are specific and can be acted upon.
- Call it once per message at most.

The list is not the answer: after the last call, write what the user asked for as text."""


class TodosSettings(Input):
    """The agent keeps a todo list and ticks items off as it works; people see it."""

    prompt: str | None = Field(None, description="The prompt about the list; absent: LangChain's.")


class TodosState(AgentState[Any]):
    """The list; its items have ids, which the agent neither reads nor writes."""

    todos: NotRequired[Annotated[list[Todo], keep_ids]]


class Todos(TodoListMiddleware[Any, Any]):
    """LangChain's policy: a tool `write_todos`, and a section of the system prompt about it."""

    state_schema = TodosState

    def __init__(self, settings: TodosSettings) -> None:
        prompt = settings.prompt or WRITE_TODOS_SYSTEM_PROMPT
        super().__init__(system_prompt=prompt, tool_description=DESCRIPTION)
        for tool in self.tools:
            mark_state_only(tool)
