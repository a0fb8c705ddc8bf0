"""A turn that one agent hands over to another: its limit of steps, and what is left out of it."""

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import check_views, make_domain, make_session
from tests.integration.team.scenes import Say, TeamModel, payload_of, response, team_session
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

QUESTION, BRIEF = "please find out", "look as often as it takes"
SUMMARY_PROMPT = "Summarise: {messages}"


@pytest.fixture
def team(model: ScriptedModel) -> TeamModel:
    team = TeamModel(model)
    team.says["Sage"] = hand_over("Writer")
    return team


def hand_over(name: str) -> JSON:
    return response(payloadChangeRequest=payload_of(invokeAgent={"name": name, "message": BRIEF}))


def looks(times: int) -> list[JSON]:
    """What an agent says that looks a few times."""
    return [{"tools": [{"name": "look", "args": {"n": number}}]} for number in range(times)]


def in_turn(*steps: JSON) -> Say:
    """Say one after the other."""
    left = iter(steps)
    return lambda _: next(left)


def ask(stack: Stack, server: ToolServer, **domain: object) -> str:
    """Ask a team whose specialists can look; give the turn."""
    names = ("Writer", "Reconciler")
    agents = [{"name": one, "system_prompt": f"I am {one}.", "tools": ["look"]} for one in names]
    made = make_domain(
        stack,
        agents=agents,
        manager={"system_prompt": "I am Sage."},
        mcp_servers={"tools": server.template},
        **domain,
    )
    turn_id: str = stack.submit(QUESTION, make_session(stack, made["name"]))["turn_id"]
    return turn_id


def test_the_limit_of_steps_counts_those_of_all_agents_of_a_turn(
    stack: Stack, team: TeamModel
) -> None:
    team.says["Writer"] = in_turn(*looks(1), hand_over("Reconciler"))
    team.says["Reconciler"] = in_turn(*looks(9), {"text": "done"})

    with ToolServer([tool("look")], lambda *_: "nothing") as server:
        turn = stack.finished(ask(stack, server, limits={"steps": 6}))

    assert (turn["status"], turn["error"]["detail"].partition(",")[0]) == (
        "failed",
        "The agent made 6 steps",
    )


@pytest.mark.parametrize("summary", [{"status": 400}, {"text": ""}, {"text": "They looked."}])
def test_who_goes_on_with_a_turn_still_reads_what_is_wanted_when_the_rest_is_left_out(
    stack: Stack, model: ScriptedModel, team: TeamModel, summary: JSON
) -> None:
    policy = {"trigger_tokens": 1_000, "keep_tokens": 200, "prompt": SUMMARY_PROMPT}
    team.says["Writer"] = in_turn(*looks(4), {"text": "done"})
    answer = model.steps
    model.steps = lambda messages, body: (
        summary if str(messages[0]["content"]).startswith("Summarise") else answer(messages, body)
    )

    with ToolServer([tool("look")], lambda *_: "much " * 500) as server:
        turn = stack.finished(ask(stack, server, middleware=[{"summarization": policy}]))

    assert turn["status"] == "succeeded", turn["error"]
    asked = team.bodies("Writer")
    assert len(asked) == 5 and len(asked[-1]["messages"]) < 8
    for body in asked:
        said = [m["content"] for m in body["messages"] if m["role"] == "user"]
        assert said[-2:] == [QUESTION, BRIEF]
    check_views(stack, turn["session_id"])


def test_recent_messages_never_leave_out_the_message_of_a_turn_that_was_handed_over(
    stack: Stack, team: TeamModel
) -> None:
    policy = {"recent_messages": {"trigger": 1, "keep": 1}}

    with ToolServer([tool("look")], lambda *_: "nothing") as server:
        turn = stack.finished(ask(stack, server, middleware=[policy]))

    assert turn["status"] == "succeeded", turn["error"]
    (body,) = team.bodies("Writer")
    said = [m["content"] for m in body["messages"] if m["role"] == "user"]
    assert said == [QUESTION, BRIEF]


@pytest.mark.parametrize("name", ["Nobody", "Auditor", ""])
def test_an_agent_that_cannot_take_over_a_turn_is_told_to_who_asked_for_it(
    stack: Stack, team: TeamModel, name: str
) -> None:
    team.says["Sage"] = in_turn(hand_over(name), hand_over("writer"))
    session_id = team_session(stack)
    turn = stack.finished(stack.submit(QUESTION, session_id)["turn_id"])

    assert (turn["status"], turn["agent"]) == ("succeeded", "Writer"), turn["error"]
    hint = team.bodies("Sage")[1]["messages"][-1]["content"]
    assert hint == f"There is no agent {name!r}. The agents are: Sage, Reconciler, Writer."
    shown = [message["content"]["text"] for message in stack.messages(session_id)]
    assert shown == [QUESTION, "writer goes on with this.", "Writer here"]


def test_a_turn_that_was_handed_over_too_often_is_handed_over_again_by_a_retry(
    stack: Stack, team: TeamModel
) -> None:
    team.says["Writer"] = hand_over("Sage")
    session_id = team_session(stack)
    turn = stack.finished(stack.submit(QUESTION, session_id)["turn_id"])
    team.says["Writer"] = hand_over("Reconciler")

    again = stack.client.post(f"/turns/{turn['id']}/retry").json()
    ended = stack.finished(again["id"])

    assert turn["error"]["detail"] == "The turn was handed over 5 times. Rephrase the message."
    assert (ended["status"], ended["agent"]) == ("succeeded", "Reconciler"), ended["error"]
    assert len(team.bodies("Writer")) == 4
    check_views(stack, session_id)


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        ({"input": {"rows": "@t9.output.rows"}}, "refers to @t9.output, but there is no such task"),
        ({"dependsOn": ["t9"]}, "depends on t9, but there is no such task"),
    ],
)
def test_a_single_task_is_not_handed_over_if_it_needs_another_one(
    stack: Stack, team: TeamModel, needs: JSON, said: str
) -> None:
    work = {"tempId": "t1", "name": "Write", "description": "Write it.", "agentName": "Writer"}
    graph = {"workflowName": "Report", "tasks": [{**work, **needs}]}
    plans = response(payloadChangeRequest=payload_of(taskGraph=graph))
    team.says["Sage"] = in_turn(plans, response("It cannot run."))

    answer = stack.chat("a report, please", team_session(stack))

    assert (answer["response"], answer["agent"]) == ("It cannot run.", "Sage")
    assert said in team.bodies("Sage")[1]["messages"][-1]["content"]
    assert team.bodies("Writer") == []
