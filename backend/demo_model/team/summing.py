"""The manager's summary when its plans and agents are done. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from backend.demo_model.conversation import Result
from backend.demo_model.team.inputs import Artifact, read_artifacts
from backend.types import JSON

_MOST_CHARACTERS = 600  # of one task's result
_SUCCEEDED = "succeeded"


def sum_up(results: Sequence[Result]) -> str:
    """Return the results of plans and agents in words."""
    return "\n\n".join(_summed(result) for result in results)


def _summed(result: Result) -> str:
    plan = _read(result.content)
    tasks = plan.get("tasks", [plan] if "status" in plan else [])
    if not tasks:
        return result.content.strip()
    done = sum(task.get("status") == _SUCCEEDED for task in tasks)
    parts = [f"{done} of {len(tasks)} tasks succeeded.", "\n".join(map(_task, tasks))]
    if artifacts := _artifacts(tasks):
        listed = "\n".join(f"- {artifact.link}" for artifact in artifacts)
        parts.append(f"What came of it:\n\n{listed}")
    return "\n\n".join(parts)


def _read(content: str) -> JSON:
    try:
        given = json.loads(content)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def _task(task: Mapping[str, Any]) -> str:
    name = f"- **{task.get('name')}** ({task.get('agent')})"
    if task.get("status") != _SUCCEEDED:
        return f"{name}: {task.get('status')}. {task.get('error') or ''}".rstrip()
    return f"{name}: {_first_paragraph(_output(task))}"


def _first_paragraph(output: Mapping[str, Any]) -> str:
    first = str(output.get("text", "")).strip().partition("\n\n")[0]
    first = f"{first[:-1]}." if first.endswith(":") else first
    return first if len(first) <= _MOST_CHARACTERS else f"{first[:_MOST_CHARACTERS]}…"


def _artifacts(tasks: Sequence[JSON]) -> list[Artifact]:
    return [one for task in tasks for one in read_artifacts(_output(task).get("artifacts"))]


def _output(task: Mapping[str, Any]) -> JSON:
    output = task.get("output")
    return output if isinstance(output, dict) else {}
