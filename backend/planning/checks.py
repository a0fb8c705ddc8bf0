"""Checking a plan for faults, in sentences that its author can act on. Pure."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from backend.planning.form import LONGEST_INPUT, PlanForm, PlannedTask
from backend.planning.references import find_references
from backend.text import same_name


def find_faults(plan: PlanForm, agents: Sequence[str]) -> list[str]:
    """Return everything that prevents a plan from running with these agents."""
    known = [task.tempId for task in plan.tasks]
    twice = [temp_id for temp_id, count in Counter(known).items() if count > 1]
    faults = [f"Several tasks have the tempId {one}. Give each task its own." for one in twice]
    for task in plan.tasks:
        faults += _faults_of(task, known, agents)
    if not faults and (cycle := find_cycle(needs_of(plan))):
        faults.append(
            f"The tasks wait for each other in a circle: {' → '.join(cycle)}. Remove one of these"
            " dependencies."
        )
    return faults


def find_agent(name: str, agents: Sequence[str]) -> str | None:
    """Return the agent with this name as it is written, ignoring case; None if there is none."""
    return next((agent for agent in agents if same_name(agent) == same_name(name)), None)


def unknown_agent(name: str, agents: Sequence[str]) -> str:
    """Return a sentence about an unknown agent that lists the existing ones."""
    return f"There is no agent {name!r}. The agents are: {', '.join(agents) or 'none'}."


def needs_of(plan: PlanForm) -> dict[str, list[str]]:
    """Return which tasks each one waits for: its dependencies, and those that it refers to."""
    return {
        task.tempId: list(dict.fromkeys([*task.dependsOn, *_references(task)]))
        for task in plan.tasks
    }


def find_cycle(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return tasks that wait for each other, with the first one repeated at the end; or empty."""
    done: set[str] = set()
    for start in needs:
        path: list[str] = []
        stack = [(start, iter(needs[start]))] if start not in done else []
        path.extend(name for name, _ in stack)
        while stack:
            name, following = stack[-1]
            wanted = next((one for one in following if one not in done), None)
            if wanted is None:
                done.add(name)
                stack.pop()
                path.pop()
            elif wanted in path:
                return [*path[path.index(wanted) :], wanted]
            else:
                path.append(wanted)
                stack.append((wanted, iter(needs[wanted])))
    return []


def _faults_of(task: PlannedTask, known: Sequence[str], agents: Sequence[str]) -> list[str]:
    faults = []
    if find_agent(task.agentName, agents) is None:
        faults.append(f"Task {task.tempId}: {unknown_agent(task.agentName, agents)}")
    tasks = ", ".join(known)
    faults += [
        f"Task {task.tempId} depends on {one}, but there is no such task. The tasks are: {tasks}."
        for one in task.dependsOn
        if one not in known
    ]
    faults += [
        f"Task {task.tempId} refers to @{one}.output, but there is no such task. The tasks are:"
        f" {tasks}."
        for one in _references(task)
        if one not in known
    ]
    if len(json.dumps(task.input, default=str)) > LONGEST_INPUT:
        faults.append(
            f"The input of task {task.tempId} is longer than {LONGEST_INPUT:,} characters. Refer to"
            " the output of another task instead of writing it out."
        )
    return faults


def _references(task: PlannedTask) -> list[str]:
    return find_references([task.description, task.input])
