"""A team whose agents say by script what they are asked to, each known by its prompt."""

import json
from collections.abc import Callable
from typing import Any

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain, make_session
from tests.stack import Stack

Say = Callable[[list[JSON]], JSON]

AGENTS = [
    {"name": "Reconciler", "description": "compares ledgers", "tools": []},
    {"name": "Writer", "description": "writes reports", "tools": []},
    {"name": "Auditor", "description": "looks at everything", "tools": [], "roles": ["auditor"]},
]


def team_domain(stack: Stack, **manager: Any) -> JSON:
    """Store a domain with Sage, two specialists, and one that is not for us."""
    agents = [{**agent, "system_prompt": f"I am {agent['name']}."} for agent in AGENTS]
    sage = {"system_prompt": "I am Sage.", **manager}
    return make_domain(stack, agents=agents, manager=sage)


def team_session(stack: Stack, **manager: Any) -> str:
    """Make a session of a new team."""
    return make_session(stack, team_domain(stack, **manager)["name"])


class TeamModel:
    """Answers for each agent as `says` has it; who is not there says its name.

    `continuity` is the step that answers the question whether a message continues.
    """

    def __init__(self, model: ScriptedModel) -> None:
        self.says: dict[str, Say | JSON] = {}
        self.continuity: JSON = {"text": '{"answer": "UNSURE"}'}
        self.heard: list[tuple[str, JSON]] = []
        model.steps = self._step

    def _step(self, messages: list[JSON], body: JSON) -> JSON:
        prompt = str(messages[0]["content"])
        if prompt.startswith("# Continuity"):
            self.heard.append(("continuity", body))
            return self.continuity
        name = prompt.removeprefix("I am ").split(".", 1)[0]
        self.heard.append((name, body))
        step = self.says.get(name)
        if step is None:
            said = f"{name} here"
            return chat(said) if name == "Sage" else {"text": said}
        return step(messages) if callable(step) else step

    def bodies(self, name: str) -> list[JSON]:
        """Return what an agent was sent."""
        return [body for who, body in self.heard if who == name]


def response(message: str | None = None, *, done: bool = True, **more: Any) -> JSON:
    """Return a step that answers in the form of a response."""
    return {"text": json.dumps({"taskComplete": done, "message": message, **more})}


def chat(message: str) -> JSON:
    """Return a step that says this to the person and waits."""
    return response(message, done=False, nextStep={"type": "Chat"})


def payload_of(**values: Any) -> JSON:
    """Return a change that adds these to the payload."""
    return {"newElements": [{"key": key, "value": value} for key, value in values.items()]}
