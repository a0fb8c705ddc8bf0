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

RUN_PLAN, CALL_AGENT = "run_plan", "call_agent"
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


def find_plan_faults(tool: str, arguments: JSON, agents: Sequence[str]) -> list[str]:
    """Return why a call of a manager's tool cannot run with these agents; none for other tools."""
    if tool not in (RUN_PLAN, CALL_AGENT):
        return []
    try:
        if tool == RUN_PLAN:
            return find_faults(PlanForm.model_validate(arguments), agents)
        call = CallAgent.model_validate(arguments)
    except ValidationError as error:
        return [_fault(one) for one in error.errors(include_url=False)]
    # Also of the agent's own task, which has the id t1: it would wait for itself.
    faults = [OUT_OF_REACH.format(one) for one in find_references(call.message)]
    return faults if find_agent(call.name, agents) else [unknown_agent(call.name, agents), *faults]


class PlanTool(StructuredTool):
    """A tool of a manager, with the agents that its calls may name."""

    agents: Sequence[str]

    def find_faults(self, arguments: JSON) -> list[str]:
        """Return why it would refuse a call with these arguments."""
        return find_plan_faults(self.name, arguments, self.agents)


def plan_tools(context: ToolContext) -> list[BaseTool]:
    """Return the tools of a manager: `run_plan` and `call_agent`; none where plans cannot run.

    They are idempotent: a repeated call finds its existing work.
    """
    plans = context.plans
    if plans is None:
        return []

    def check(tool: str, arguments: JSON) -> None:
        if faults := find_plan_faults(tool, arguments, plans.agents):
            raise ToolException(_say(faults))

    async def run_plan(**values: Any) -> str:
        arguments = _plain(values)
        check(RUN_PLAN, arguments)
        return await _run(plans, "plan", RUN_PLAN, PlanForm.model_validate(arguments))

    async def call_agent(name: str, message: str, terminateAfter: bool = False) -> str:
        check(CALL_AGENT, {"name": name, "message": message})
        agent = find_agent(name, plans.agents) or name
        return await _run(plans, "sub_agent", CALL_AGENT, _plan_of_one(agent, message))

    return [
        _tool(RUN_PLAN, PlanForm, run_plan, plans.agents),
        _tool(CALL_AGENT, CallAgent, call_agent, plans.agents),
    ]


async def _run(plans: Plans, kind: Kind, name: str, plan: PlanForm) -> str:
    place = CALL_PLACE.get()
    result = await plans.run(PlanCall(place, kind, plan))
    if result is None:
        interrupt(PlanWait(place, name))
        raise RuntimeError("a call that waits for tasks was resumed within its run")
    return result


def _plan_of_one(agent: str, message: str) -> PlanForm:
    """Return an agent's call as a plan of one task, whose failure the caller judges."""
    task = PlannedTask(
        tempId="t1",
        name=agent,
        description=message,
        agentName=agent,
        onFailure=OnFailure.SKIP,
    )
    return PlanForm(workflowName=agent, tasks=[task])


def _plain(values: JSON) -> JSON:
    tasks = [t.model_dump() if isinstance(t, BaseModel) else t for t in values["tasks"]]
    return {**values, "tasks": tasks}


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
    return _say([_fault(one) for one in error.errors(include_url=False)])


def _fault(error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    message = error["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def _say(faults: Sequence[str]) -> str:
    lines = "\n".join(f"- {fault}" for fault in faults[:MOST_FAULTS])
    more = len(faults) - MOST_FAULTS
    rest = f"\n- and {more} more" if more > 0 else ""
    return f"Nothing was run. Correct this and call again:\n{lines}{rest}"
