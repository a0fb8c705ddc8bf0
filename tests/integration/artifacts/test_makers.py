"""Several agents make versions of one artifact at the same moment."""

from threading import Event

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.artifacts.scenes import version
from tests.integration.plans.team import AGENTS, Team, plan, task
from tests.stack import Stack

MAKERS = {"a": AGENTS[0], "b": AGENTS[1]}  # tasks by the agent that works on them
EACH = 5  # versions at once


def test_versions_that_come_at_the_same_moment_are_all_there_and_equal_content_makes_one(
    stack: Stack, model: ScriptedModel
) -> None:
    def reply(name: str) -> JSON:
        if name == "first":
            made = {"kind": "document", "title": "Shared", "content": "first"}
            return {"tools": [{"name": "make_artifact", "args": made}]}
        if all(team.asked[f"{maker}{name[-1]}"] for maker in MAKERS):
            together.set()  # both are asked: neither answers before
        texts = ["equal"] if name.endswith("2") else [f"{name[0]}{n}" for n in range(EACH)]
        calls = [{"artifact_id": named["artifact_id"], "content": text} for text in texts]
        tools = [{"name": "revise_artifact", "args": given} for given in calls]
        return {"tools": tools, "until": together}

    def run(session_id: str | None, *tasks: JSON) -> str:
        turn = team.ask(plan(*tasks), session_id=session_id)
        assert stack.finished(turn["turn_id"])["status"] == "succeeded"
        return str(turn["session_id"])

    def at_once(round: int) -> list[JSON]:
        return [task(f"{maker}{round}", agent=agent) for maker, agent in MAKERS.items()]

    team = Team(stack, model, reply, specialist={"tools": ["make_artifact", "revise_artifact"]})
    session_id = run(None, task("first"))
    (listed,) = stack.client.get(f"/sessions/{session_id}/artifacts").json()["items"]
    named = {"artifact_id": listed["id"], "version": 1}

    together = Event()
    run(session_id, *at_once(1))
    found = [version(stack, named, number) for number in range(1, 2 + 2 * EACH)]
    together = Event()
    run(session_id, *at_once(2))

    texts = [one["preview"]["text"] for one in found]
    assert [one["version"] for one in found] == list(range(1, 2 + 2 * EACH))
    assert sorted(texts) == sorted(["first", *(f"{m}{n}" for m in MAKERS for n in range(EACH))])
    for one in found[1:]:
        assert one["agent"] == MAKERS[one["preview"]["text"][0]]
    versions = version(stack, named)["versions"]
    assert [one["version"] for one in versions] == list(range(2 + 2 * EACH, 0, -1))
    assert version(stack, named, len(versions))["preview"]["text"] == "equal"
