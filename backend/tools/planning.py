"""The tools by which a manager delegates to other agents: a plan of tasks, or one agent.

A call starts its work once, however often it runs, and waits for it as a call waits for people:
the run ends, and once all tasks have ended, the call runs again and returns their results.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.types import interrupt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from backend.planning.checks import find_agent, find_faults, unknown_agent
from backend.planning.form import LONGEST_DESCRIPTION, PlanForm, PlannedTask
from backend.planning.references import find_references
from backend.schemas.tasks import OnFailure
from backend.tools.context import CALL_PLACE, ToolContext
from backend.tools.plans import Kind, PlanCall, Plans, PlanWait
from backend.types import JSON

PLAN_TOOLS = RUN_PLAN, CALL_AGENT = "run_plan", "call_agent"
MOST_FAULTS = 20
OUT_OF_REACH = (
    "The message refers to @{}.output, but it has no earlier tasks. Write out what the agent needs"
    " to know."
)


class CallAgent(BaseModel):
    """Let one agent do something by itself; its answer is the result.

    It works in its own session and sees only your message, nothing of this conversation.
    """

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="The agent.")
    message: str = Field(
        min_length=1, max_length=LONGEST_DESCRIPTION, description="All that it needs to know."
    )
    terminateAfter: bool = Field(
        False, description="True: its answer is the answer to the person, and ends the turn."
    )


class FaultyPlan(ToolException):
    """A call asks for something that cannot run: the sentence for the model, and each fault."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(_say(faults))
        self.faults = faults


class PlanTool(StructuredTool):
    """A tool of a manager, with the agents that its calls may name."""

    agents: Sequence[str]

    def refuses(self, arguments: JSON) -> bool:
        """Return whether a call with these arguments cannot run."""
        try:
            read_plan(self.name, arguments, self.agents)
        except FaultyPlan:
            return True
        return False


def read_plan(tool: str, arguments: JSON, agents: Sequence[str]) -> PlanForm:
    """Return the plan that a call of a manager's tool asks for.

    Raise FaultyPlan if it cannot run with these agents.
    """
    try:
        if tool == CALL_AGENT:
            return _plan_of_one(CallAgent.model_validate(arguments), agents)
        plan = PlanForm.model_validate(arguments)
    except ValidationError as error:
        raise FaultyPlan(_faults_in(error)) from None
    if faults := find_faults(plan, agents):
        raise FaultyPlan(faults)
    return plan


def plan_tools(context: ToolContext) -> list[BaseTool]:
    """Return the tools of a manager: `run_plan` and `call_agent`; none where plans cannot run.

    They are idempotent: a repeated call finds its existing work.
    """
    plans = context.plans
    if plans is None:
        return []

    def tool(name: str, kind: Kind, form: type[BaseModel]) -> BaseTool:
        async def run(**values: Any) -> str:
            return await _run(plans, kind, name, read_plan(name, values, plans.agents))

        return _tool(name, form, run, plans.agents)

    return [tool(RUN_PLAN, "plan", PlanForm), tool(CALL_AGENT, "sub_agent", CallAgent)]


async def _run(plans: Plans, kind: Kind, name: str, plan: PlanForm) -> str:
    place = CALL_PLACE.get()
    result = await plans.run(PlanCall(place, kind, plan))
    if result is None:
        interrupt(PlanWait(place, name))
        raise RuntimeError("a call that waits for tasks was resumed within its run")
    return result


def _plan_of_one(call: CallAgent, agents: Sequence[str]) -> PlanForm:
    """Return an agent's call as a plan of one task, whose failure the caller judges."""
    # Also of the agent's own task, which has the id t1: it would wait for itself.
    faults = [OUT_OF_REACH.format(one) for one in find_references(call.message)]
    agent = find_agent(call.name, agents)
    if agent is None:
        faults.insert(0, unknown_agent(call.name, agents))
    if agent is None or faults:
        raise FaultyPlan(faults)
    task = PlannedTask(
        tempId="t1",
        name=agent,
        description=call.message,
        agentName=agent,
        onFailure=OnFailure.SKIP,
    )
    return PlanForm(workflowName=agent, tasks=[task])


def _tool(
    name: str, form: type[BaseModel], run: Callable[..., Awaitable[str]], agents: Sequence[str]
) -> BaseTool:
    return PlanTool.from_function(
        coroutine=run,
        name=name,
        description=" ".join((form.__doc__ or "").split()),
        args_schema=form,
        handle_tool_error=True,
        handle_validation_error=_say_invalid,
        metadata={"effect": "idempotent"},
        agents=agents,
    )


def _say_invalid(error: Any) -> str:
    if not isinstance(error, ValidationError):
        return f"Nothing was run: {error}"
    return _say(_faults_in(error))


def _faults_in(error: ValidationError) -> list[str]:
    return [_fault(one) for one in error.errors(include_url=False)]


def _fault(error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    message = error["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def _say(faults: Sequence[str]) -> str:
    lines = "\n".join(f"- {fault}" for fault in faults[:MOST_FAULTS])
    more = len(faults) - MOST_FAULTS
    rest = f"\n- and {more} more" if more > 0 else ""
    return f"Nothing was run. Correct this and call again:\n{lines}{rest}"
