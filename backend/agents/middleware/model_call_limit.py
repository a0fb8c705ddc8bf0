"""Ending a turn whose agent calls its model too often."""

from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentState, ModelCallLimitMiddleware
from langchain.agents.middleware.types import PrivateStateAttr, hook_config
from langgraph.runtime import Runtime
from pydantic import Field, ValidationInfo, model_validator

from backend.errors.turns import CallLimitReached
from backend.schemas.wire import Input, is_reading
from backend.text import counted

COUNTERS = ("thread_model_call_count", "run_model_call_count")


class ModelCallLimitSettings(Input):
    """The turn ends with an explanation when the agent has asked its model this often."""

    turn: int | None = Field(
        None, ge=1, description="Calls in one turn; set this, session or both."
    )
    session: int | None = Field(None, ge=1, description="Calls in the whole session.")

    @model_validator(mode="after")
    def _limits_something(self, info: ValidationInfo) -> "ModelCallLimitSettings":
        if self.turn is None and self.session is None:
            raise ValueError("give a limit for the turn, for the session, or both")
        if self.turn and self.session and self.turn > self.session and not is_reading(info):
            raise ValueError("the turn's limit must not be larger than the session's")
        return self


class CountedModelCalls(AgentState[Any]):
    """LangChain's counters, both of which survive a lost worker."""

    thread_model_call_count: NotRequired[Annotated[int, PrivateStateAttr]]
    run_model_call_count: NotRequired[Annotated[int, PrivateStateAttr]]


class ModelCallLimit(ModelCallLimitMiddleware[Any, Any]):
    """LangChain's policy with stored counters; a run in its terms is our turn."""

    state_schema = CountedModelCalls

    def __init__(self, settings: ModelCallLimitSettings) -> None:
        super().__init__(thread_limit=settings.session, run_limit=settings.turn)

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Reset the turn's counter; this hook does not run again when a turn is resumed."""
        return {"run_model_call_count": 0}

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Raise CallLimitReached instead of exceeding the limit."""
        counts = _whole_numbers(state)
        if self.before_model(counts, runtime) is None:
            return None
        run = counts["run_model_call_count"]
        if self.run_limit is not None and run >= self.run_limit:
            raise CallLimitReached(
                f"The agent has asked its model {counted(run, 'time')} in this turn, its limit,"
                " without an answer. Ask for less, or raise the limit."
            )
        raise CallLimitReached(
            f"The agent has asked its model {counted(self.thread_limit or 0, 'time')} in this"
            " session, its limit. Continue in a new session, or raise the limit."
        )

    async def aafter_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Count the call."""
        return self.after_model(_whole_numbers(state), runtime)


def _whole_numbers(state: Any) -> Any:
    """Return the state with valid counters: those of another shape start again."""
    counts = {name: state.get(name) for name in COUNTERS}
    return {**state, **{name: n if type(n) is int else 0 for name, n in counts.items()}}
