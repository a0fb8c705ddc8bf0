"""Limiting how often an agent calls its tools, or one of them."""

from typing import Annotated, Any, Literal, NotRequired

from langchain.agents.middleware import AgentState, ToolCallLimitMiddleware
from langchain.agents.middleware.tool_call_limit import ToolCallLimitExceededError
from langchain.agents.middleware.types import PrivateStateAttr, hook_config
from langchain_core.messages import ToolMessage
from langgraph.runtime import Runtime
from pydantic import Field, model_validator

from backend.agents.steps.tool_results import with_outcome
from backend.errors.turns import CallLimitReached
from backend.schemas.conversations.outcomes import CallOutcome
from backend.schemas.wire import Input
from backend.text import counted

ALL_TOOLS = "__all__"  # LangChain's name for the count of all tools together
COUNTERS = ("thread_tool_call_count", "run_tool_call_count")


class ToolCallLimitSettings(Input):
    """A limit on tool calls, such as at most five web searches in a turn."""

    tool: str | None = Field(None, min_length=1, description="The tool; absent: all together.")
    turn: int | None = Field(
        None, ge=1, description="Calls in one turn; set this, session or both."
    )
    session: int | None = Field(None, ge=1, description="Calls in the whole session.")
    then: Literal["answer", "end"] = Field(
        "answer",
        description="answer: further calls get an error as their result, so the agent answers with"
        " what it has; end: the turn ends with an explanation.",
    )

    @model_validator(mode="after")
    def _limits_something(self) -> "ToolCallLimitSettings":
        if self.turn is None and self.session is None:
            raise ValueError("give a limit for the turn, for the session, or both")
        if self.turn and self.session and self.turn > self.session:
            raise ValueError("the turn's limit must not be larger than the session's")
        return self


class CountedToolCalls(AgentState[Any]):
    """LangChain's counters by tool, both of which survive a lost worker."""

    thread_tool_call_count: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]
    run_tool_call_count: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]


class ToolCallLimit(ToolCallLimitMiddleware[Any, Any]):
    """LangChain's policy with stored counters; a run in its terms is our turn."""

    state_schema = CountedToolCalls

    def __init__(self, settings: ToolCallLimitSettings) -> None:
        super().__init__(
            tool_name=settings.tool,
            thread_limit=settings.session,
            run_limit=settings.turn,
            exit_behavior="continue" if settings.then == "answer" else "error",
        )

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Reset the turn's counters; this hook does not run again when a turn is resumed."""
        return {"run_tool_call_count": {}}

    @hook_config(can_jump_to=["end"])
    async def aafter_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Count the calls; beyond the limit, add error results or raise CallLimitReached."""
        counts = _whole_counts(state)
        try:
            return _with_outcomes(self.after_model(counts, runtime))
        except ToolCallLimitExceededError as error:
            where, limit, counter = "turn", error.run_limit, "run_tool_call_count"
            if limit is None or error.run_count <= limit:
                where, limit, counter = "session", error.thread_limit, "thread_tool_call_count"
            before = counts[counter].get(self.tool_name or ALL_TOOLS, 0)
            raise CallLimitReached(
                f"The agent has called {self.tool_name or 'its tools'} {counted(before, 'time')} in"
                f" this {where} and requested more than its limit of {limit:,}. Ask for less, or"
                " raise the limit."
            ) from error


def _with_outcomes(changes: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the changes with results that say to people why their calls were not run."""
    if changes is None or not changes.get("messages"):
        return changes
    added = [
        with_outcome(one, CallOutcome.LIMITED) if isinstance(one, ToolMessage) else one
        for one in changes["messages"]
    ]
    return {**changes, "messages": added}


def _whole_counts(state: Any) -> Any:
    """Return the state with valid counts: those of another shape start again."""
    counts = {name: state.get(name) for name in COUNTERS}
    return {**state, **{name: n if isinstance(n, dict) else {} for name, n in counts.items()}}
