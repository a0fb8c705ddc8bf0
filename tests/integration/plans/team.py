"""A domain with a manager whose plans are scripted, and what becomes of their tasks."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain, make_session
from tests.stack import Stack

AGENTS = ("Analyst", "Writer")
FAILING: JSON = {"status": 400}  # what a model gives that will not be asked again
Reply = Callable[[str], JSON]


def task(temp_id: str, *needs: str, agent: str = "Analyst", **more: Any) -> JSON:
    said = {"tempId": temp_id, "name": f"Task {temp_id}", "description": f"work {temp_id};"}
    return {**said, "agentName": agent, "dependsOn": list(needs), **more}


def plan(*tasks: JSON) -> JSON:
    return {"name": "run_plan", "args": {"workflowName": "work", "tasks": list(tasks)}}


class Team:
    """Asks the manager, which makes the calls that it is told to; its specialists `reply`."""

    def __init__(
        self,
        stack: Stack,
        model: ScriptedModel,
        reply: Reply | None = None,
        specialist: JSON | None = None,
        limits: JSON | None = None,
        **manager: Any,
    ) -> None:
        self.stack = stack
        self.asked: Counter[str] = Counter()  # how often each task's agent was asked
        self.results: list[str] = []  # what the manager has read of its calls
        self.calls: list[JSON] = []
        self._reply = reply or (lambda temp_id: {"text": f"did {temp_id}"})
        self.domain = make_domain(
            stack,
            agents=[{"name": name, "tools": [], **(specialist or {})} for name in AGENTS],
            manager={"name": "Sage", **manager},
            limits=limits or {},
        )["name"]
        model.steps = self._answer

    def ask(self, *calls: JSON, session_id: str | None = None) -> JSON:
        """Let the manager make these calls, in a new session if none is named; give the turn."""
        self.calls = list(calls)
        return self.stack.submit("go", session_id or make_session(self.stack, self.domain))

    def plans(self, session_id: str) -> list[JSON]:
        found = self.stack.client.get(f"/sessions/{session_id}/tasks")
        assert found.status_code == 200, found.text
        return found.json()["items"]

    def tasks(self, session_id: str) -> dict[str, JSON]:
        """The tasks of the session's only plan, by their names in it."""
        (only,) = self.plans(session_id)
        return {task["temp_id"]: task for task in only["tasks"]}

    def statuses(self, session_id: str) -> dict[str, str]:
        return {name: task["status"] for name, task in self.tasks(session_id).items()}

    def result(self) -> JSON:
        return json.loads(self.results[-1])

    def _answer(self, messages: list[JSON], body: JSON) -> JSON:
        last = messages[-1]
        tools = {tool["function"]["name"] for tool in body.get("tools", ())}
        if "run_plan" in tools:
            if last["role"] == "tool":
                self.results += [m["content"] for m in messages if m["role"] == "tool"]
                return {"text": json.dumps({"taskComplete": True, "message": "all done"})}
            return {"tools": self.calls}
        if last["role"] == "tool":
            return {"text": "done"}
        said = next(m["content"] for m in reversed(messages) if m["role"] == "user")
        temp_id = said.split("work ", 1)[1].split(";", 1)[0]
        self.asked[temp_id] += 1
        return self._reply(temp_id)
