"""Calls that a manager writes as text are cleaned as its other calls are."""

import json

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain, make_session
from tests.integration.team.scenes import AGENTS, TeamModel
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

VALUE = "the value"  # its place in what is written
VALUES = ["NaN", "123456789012345678901234", '"a\\u0000b"', '"\\ud800"']


def written(answer: JSON, value: str) -> str:
    """An answer as text, with a value that Python would not write."""
    return json.dumps(answer).replace(json.dumps(VALUE), value)


@pytest.mark.parametrize("value", VALUES)
def test_an_action_that_asks_shows_what_runs(
    stack: Stack, model: ScriptedModel, value: str
) -> None:
    team = TeamModel(model)
    with ToolServer([tool("mail_send")], lambda *_: "sent") as server:
        agents = [{**a, "system_prompt": f"I am {a['name']}."} for a in AGENTS[:2]]
        domain = make_domain(
            stack,
            agents=agents,
            manager={"system_prompt": "I am Sage.", "tools": ["mail_send"]},
            mcp_servers={"tools": server.template},
            middleware=[{"approvals": {"rules": [{"tools": "mail_*", "action": "ask"}]}}],
        )
        session = make_session(stack, domain["name"])
        action = {"name": "mail_send", "params": {"amount": VALUE}}
        step = {"type": "Actions", "actions": [action]}
        said = written({"taskComplete": False, "nextStep": step}, value)

        def say(messages: list[JSON]) -> JSON:
            if messages[-1]["role"] == "tool":
                return {"text": json.dumps({"taskComplete": True, "message": "done"})}
            return {"text": said}

        team.says["Sage"] = say
        turn = stack.submit("@Sage send it", session)
        now = stack.wait_for(
            lambda: (t := stack.turn(turn["turn_id"]))["status"] not in ("queued", "running") and t,
            "neither waits nor ends",
            40,
        )
        assert now["status"] == "waiting", now["error"]
        (asked,) = [
            a
            for a in stack.client.get("/approvals").json()["items"]
            if a["turn_id"] == turn["turn_id"]
        ]
        stack.client.post(
            f"/turns/{turn['turn_id']}/decisions", json={"decisions": [{"type": "approve"}]}
        )
        assert stack.finished(turn["turn_id"])["status"] == "succeeded"
        ((_, ran),) = server.calls
        assert ran == asked["arguments"]


@pytest.mark.parametrize("value", VALUES)
def test_a_plan_written_as_text_runs(stack: Stack, model: ScriptedModel, value: str) -> None:
    team = TeamModel(model)
    agents = [{**a, "system_prompt": f"I am {a['name']}."} for a in AGENTS[:2]]
    domain = make_domain(stack, agents=agents, manager={"system_prompt": "I am Sage."})
    session = make_session(stack, domain["name"])
    one = {"name": "n", "description": "d", "agentName": "Writer", "input": {"account": VALUE}}
    graph = {"workflowName": "w", "tasks": [{"tempId": name, **one} for name in ("t1", "t2")]}
    change = {"newElements": [{"key": "taskGraph", "value": graph}]}
    answer = {"taskComplete": True, "message": "go", "payloadChangeRequest": change}
    said = written(answer, value)
    seen: list[str] = []

    def say(messages: list[JSON]) -> JSON:
        if messages[-1]["role"] == "tool":
            seen.append(messages[-1]["content"])
            return {"text": json.dumps({"taskComplete": True, "message": "done"})}
        return {"text": said}

    team.says["Sage"] = say
    turn = stack.submit("@Sage run it", session)
    ended = stack.finished(turn["turn_id"], 40)
    assert (ended["status"], ended["error"]) == ("succeeded", None)
    assert '"status": "succeeded"' in seen[0], seen
