"""The form of a plan: a graph of tasks as a manager writes it, in its field names."""

from typing import Any

from pydantic import ConfigDict, Field, model_validator

from backend.planning.written import Written
from backend.schemas.tasks import OnFailure

MOST_TASKS = 200
LONGEST_ID = 40
LONGEST_NAME = 120
LONGEST_DESCRIPTION = 20_000
LONGEST_REASONING = 20_000
LONGEST_INPUT = 100_000  # characters as JSON


class _Written(Written):
    """A part of a plan; a number may be an id."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


class PlannedTask(_Written):
    """One task: what one agent does, with which input, after which other tasks."""

    tempId: str = Field(
        min_length=1,
        max_length=LONGEST_ID,
        pattern=r"^\w[\w-]*$",
        description="A name for references, such as t1.",
    )
    name: str = Field(min_length=1, max_length=LONGEST_NAME, description="A short title.")
    description: str = Field(
        "",
        max_length=LONGEST_DESCRIPTION,
        description="What the agent should do; it sees only this, or else the name, and `input`.",
    )
    agentName: str = Field(description="The agent that does it.")
    dependsOn: list[str] = Field([], description="The tempIds of tasks that must finish first.")
    input: dict[str, Any] | None = Field(
        None, description='Values for it; "@t1.output.rows" is the output of an earlier task.'
    )
    onFailure: OnFailure = Field(
        OnFailure.RETRY,
        description="retry: up to two more times, then as skip; skip: tasks that depend on it are"
        " left out; ask: a person decides.",
    )

    @model_validator(mode="after")
    def _is_described(self) -> "PlannedTask":
        self.description = self.description or self.name
        return self


class PlanForm(_Written):
    """Run a plan: tasks for several agents, those that depend on nothing at the same time.

    Each agent does its task in a separate session. The result has the output of every task:
    `output` has `text`, the fields of an answer that is a JSON object, `rows` and `columns` of the
    last table, and `artifacts`. A task uses earlier results by references in its `input`, such as
    "@t1.output.rows"; it then depends on that task. Use it for work of several steps or agents;
    for one agent use call_agent.
    """

    workflowName: str = Field(min_length=1, max_length=LONGEST_NAME, description="A short title.")
    reasoning: str = Field("", max_length=LONGEST_REASONING, description="Why it is done this way.")
    tasks: list[PlannedTask] = Field(min_length=1, max_length=MOST_TASKS)
