"""The plan that the demo model proposes as a manager: a reconciliation with a report. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.demo_model.team.inputs import LONGEST_TITLE
from backend.demo_model.team.matters import CHART, COMPARISON, REPORT
from backend.demo_model.team.members import Member, choose_member
from backend.types import JSON

PROPOSAL = "I propose this plan for"
ASKING = "Shall I proceed?"


@dataclass(frozen=True)
class Step:
    """A task of the plan: its agent, its dependencies, and its texts for people and agents."""

    id: str
    name: str
    description: str
    roots: Sequence[str]
    input: Mapping[str, Any]
    depends_on: Sequence[str] = ()


COMPARE = Step(
    "t1",
    "Compare FI with BPC",
    "Compare FI with BPC as the question says, and keep all differences as a table.",
    COMPARISON,
    {},
)
LARGEST = Step(
    "t2",
    "Look into the ten largest differences",
    "Look into the ten largest differences, say what explains each, and keep them as a table.",
    COMPARISON,
    {"differences": "@t1.output.artifacts"},
    ("t1",),
)
DRAW = Step(
    "t3",
    "Draw the ten largest",
    "Draw a chart of the ten largest differences.",
    CHART,
    {"largest": "@t2.output.artifacts"},
    ("t2",),
)
WRITE = Step(
    "t4",
    "Write the report",
    "Write the report from these results, and link each number to the cell that it comes from.",
    REPORT,
    {
        "comparison": "@t1.output.text",
        "differences": "@t1.output.artifacts",
        "explanation": "@t2.output.text",
        "largest": "@t2.output.artifacts",
        "chart": "@t3.output.artifacts",
    },
    ("t1", "t2", "t3"),
)
STEPS = (COMPARE, LARGEST, DRAW, WRITE)


def find_missing(members: Sequence[Member]) -> list[Step]:
    """Return the steps for which there is no agent."""
    return [step for step in STEPS if choose_member(members, step.roots) is None]


def propose(question: str, members: Sequence[Member]) -> str:
    """Return the plan in words."""
    lines = [
        f"{number}. **{step.name}** ({_who(step, members)}): {step.description}"
        for number, step in enumerate(STEPS, 1)
    ]
    return f"{PROPOSAL} “{question}”:\n\n" + "\n".join(lines) + f"\n\n{ASKING}"


def task_graph(question: str, members: Sequence[Member]) -> JSON:
    """Return the plan as a graph of tasks."""
    return {
        "workflowName": question[:LONGEST_TITLE],
        "reasoning": "A comparison, what weighs most in it, a chart of that, and the report.",
        "tasks": [
            {
                "tempId": step.id,
                "name": step.name,
                "description": step.description,
                "agentName": _who(step, members),
                "dependsOn": list(step.depends_on),
                "input": {"question": question, **step.input},
            }
            for step in STEPS
        ],
    }


def _who(step: Step, members: Sequence[Member]) -> str:
    member = choose_member(members, step.roots)
    return member.name if member else ""
