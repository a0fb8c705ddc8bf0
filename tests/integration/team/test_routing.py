"""Which agent answers: whom the message names, who spoke last, or the manager."""

import json

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.team.scenes import (
    TeamModel,
    chat,
    payload_of,
    response,
    team_domain,
    team_session,
)
from tests.stack import Stack


@pytest.fixture
def team(model: ScriptedModel) -> TeamModel:
    return TeamModel(model)


def answers(answer: str) -> JSON:
    return {"text": json.dumps({"answer": answer, "reason": "because"})}


def test_a_conversation_finds_its_agents(stack: Stack, team: TeamModel) -> None:
    session_id = team_session(stack)

    def ask(message: str, **body: str) -> tuple[str, str, str | None]:
        said = stack.chat(message, session_id, **body)
        turn = stack.turn(said["turn_id"])
        assert (turn["agent"], said["status"]) == (said["agent"], "succeeded"), turn["error"]
        return said["response"], turn["route"]["reason"], turn["route"]["answer"]

    assert ask("hello") == ("Sage here", "manager", None)
    assert ask("who are you?") == ("Sage here", "manager", None)
    assert team.bodies("continuity") == []
    assert ask("@Reconciler compare 1000") == ("Reconciler here", "mention", None)
    team.continuity = answers("YES")
    assert ask("and above 5,000?") == ("Reconciler here", "continues", "YES")
    team.continuity = answers("NO")
    assert ask("a poem, please") == ("Sage here", "manager", "NO")
    team.continuity = answers("YES")
    assert ask("and for 1001?") == ("Reconciler here", "continues", "YES")
    assert ask("write it down", agent="writer") == ("Writer here", "asked", None)
    assert ask("shorter") == ("Writer here", "continues", "YES")
    assert ask("@sage what now?") == ("Sage here", "mention", None)


@pytest.mark.parametrize(
    "said",
    [
        {"text": '{"answer": "UNSURE"}'},
        {"text": "I cannot tell"},
        {"text": "YES or NO, who knows"},
        {"text": '{"answer": ["YES"]}'},
        {"text": ""},
        {"text": "[" * 40_000},
        {"text": '{"answer": "UNSURE", "reason": "a\\u0000b"}'},
        {"text": '{"answer": "YES' * 3_000},
        {"status": 500},
        {"status": 400},
        {"cut": True},
        {"text": '{"answer": "YES"}', "wait": 30},
    ],
    ids=[
        "unsure",
        "words",
        "both",
        "odd",
        "empty",
        "brackets",
        "NUL",
        "long",
        "down",
        "refused",
        "cut",
        "slow",
    ],
)
def test_what_is_not_a_yes_goes_to_the_manager(stack: Stack, team: TeamModel, said: JSON) -> None:
    session_id = team_session(stack, continuity_seconds=1.0)
    stack.chat("@Writer a note", session_id)
    team.continuity = said
    answer = stack.chat("and more?", session_id)
    assert answer["response"] == "Sage here"
    assert stack.turn(answer["turn_id"])["route"]["answer"] == "UNSURE"


@pytest.mark.parametrize("said", ["YES", "yes.", '```json\n{"answer": "yes"}\n```'])
def test_a_yes_in_other_forms(stack: Stack, team: TeamModel, said: str) -> None:
    session_id = team_session(stack)
    stack.chat("@Writer a note", session_id)
    team.continuity = {"text": said}
    assert stack.chat("and more?", session_id)["response"] == "Writer here"


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("@Nobody help", ["Nobody", "Sage", "Reconciler", "Writer"]),
        ("@Auditor help", ["Auditor", "Sage", "Reconciler", "Writer"]),
        ("@Writer and @Reconciler", ["Writer and Reconciler"]),
    ],
)
def test_who_cannot_be_asked_is_said_and_nothing_is_sent(
    stack: Stack, team: TeamModel, message: str, names: list[str]
) -> None:
    session_id = team_session(stack)
    refused = stack.client.post(f"/sessions/{session_id}/chat", json={"message": message})
    assert refused.status_code == 422
    assert all(name in refused.json()["detail"] for name in names)
    assert stack.messages(session_id) == [] and team.heard == []


def test_an_agent_that_is_asked_for_and_another_one_that_is_mentioned(
    stack: Stack, team: TeamModel
) -> None:
    body = {"message": "@Writer go", "agent": "Reconciler", "domain": team_domain(stack)["name"]}
    assert stack.client.post("/chat", json=body).status_code == 422
    body["agent"] = "writer"
    assert stack.client.post("/chat", json=body).json()["response"] == "Writer here"


def test_agents_read_what_was_said_and_by_whom(stack: Stack, team: TeamModel) -> None:
    session_id = team_session(stack, recent_messages=4)
    for message in ("hello", "@Reconciler compare", "@Writer a note"):
        stack.chat(message, session_id)
    read = team.bodies("Writer")[0]["messages"]
    said = [(m["role"], m.get("name"), m["content"]) for m in read[1:]]
    assert said == [
        ("assistant", "Sage", "Sage here"),
        ("user", None, "@Reconciler compare"),
        ("assistant", "Reconciler", "Reconciler here"),
        ("user", None, "@Writer a note"),
    ]
    told = team.bodies("Sage")[0]["messages"][0]["content"]
    assert "- Reconciler: compares ledgers" in told and "Auditor" not in told
    assert "First message of the conversation: yes" in told and session_id in told


def test_the_manager_hands_a_turn_over(stack: Stack, team: TeamModel) -> None:
    wanted = {"name": "Reconciler", "message": "Compare 1000 now."}
    team.says["Sage"] = response(None, payloadChangeRequest=payload_of(invokeAgent=wanted))
    session_id = team_session(stack)
    answer = stack.chat("what is wrong with 1000?", session_id)
    assert (answer["response"], answer["agent"]) == ("Reconciler here", "Reconciler")
    assert stack.turn(answer["turn_id"])["route"]["reason"] == "handed_over"
    last = team.bodies("Reconciler")[0]["messages"][-1]
    assert (last["name"], last["content"]) == ("Sage", "Compare 1000 now.")
    shown = [(m["agent"], m["content"]["text"]) for m in stack.messages(session_id)[1:]]
    assert shown == [("Sage", "Reconciler goes on with this."), ("Reconciler", "Reconciler here")]
    team.continuity = {"text": "YES"}
    assert stack.chat("and 1001?", session_id)["agent"] == "Reconciler"


def test_a_manager_that_has_nothing_to_say_observes(stack: Stack, team: TeamModel) -> None:
    team.says["Sage"] = response(None)
    session_id = team_session(stack)
    turn = stack.turn(stack.chat("fyi", session_id)["turn_id"])
    assert (turn["status"], turn["route"]["observed"]) == ("succeeded", True)
    assert [m["message_type"] for m in stack.messages(session_id)] == ["user"]
    team.says["Sage"] = chat("yes?")
    assert stack.chat("and now?", session_id)["response"] == "yes?"
    assert "(Nothing to add.)" not in str(team.bodies("Sage")[-1]["messages"])


def test_a_payload_grows_over_turns(stack: Stack, team: TeamModel) -> None:
    session_id = team_session(stack)
    team.says["Sage"] = response("noted", payloadChangeRequest=payload_of(researchData=[1, 2]))
    stack.chat("research", session_id)
    again = iter([payload_of(researchData=3), payload_of(finalReport="done")])
    team.says["Sage"] = lambda _: response("so", payloadChangeRequest=next(again))
    stack.chat("report", session_id)
    first, second = team.bodies("Sage")[-2:]
    assert "'researchData' is there already" in second["messages"][-1]["content"]
    assert '"researchData"' in first["messages"][0]["content"]
    payload = stack.state(session_id)["payload"]
    assert payload == {"researchData": [1, 2], "finalReport": "done"}


@pytest.mark.parametrize(
    ("step", "hint"),
    [
        (response("hm", done=False), "Task not complete but no next step provided"),
        (chat(""), "Chat type specified but no user message provided"),
        ({"text": '{"taskComplete": true, "message": '}, "could not be read"),
        ({"text": '{"taskComplete": "maybe"}'}, "taskComplete"),
        (response(None, done=False, nextStep={"type": "Dance"}), "nextStep.type"),
    ],
    ids=["no step", "no message", "cut off", "odd value", "odd type"],
)
def test_what_nothing_follows_from_is_asked_again(
    stack: Stack, team: TeamModel, step: JSON, hint: str
) -> None:
    team.says["Sage"] = lambda messages: (
        step if messages[-1]["role"] == "user" and (len(messages) == 2) else chat("at last")
    )
    answer = stack.chat("go", team_session(stack))
    assert answer["response"] == "at last"
    assert hint in team.bodies("Sage")[1]["messages"][-1]["content"]


def test_a_manager_that_never_answers_in_the_form_fails_with_the_reason(
    stack: Stack, team: TeamModel
) -> None:
    team.says["Sage"] = {"text": '{"taskComplete": yes}'}
    turn = stack.turn(stack.chat("go", team_session(stack))["turn_id"])
    assert turn["status"] == "failed" and "could not be read" in turn["error"]["detail"]
    assert len(team.bodies("Sage")) == 4


def test_a_manager_s_prose_is_what_people_read(stack: Stack, team: TeamModel) -> None:
    team.says["Sage"] = {"text": "`FI` and `BPC` differ by {x}.\n\n```sql\nSELECT 1\n```"}

    answer = stack.chat("go", team_session(stack))

    assert answer["response"] == "`FI` and `BPC` differ by {x}.\n\n```sql\nSELECT 1\n```"
    assert len(team.bodies("Sage")) == 1


def test_a_sub_agent_answers_in_the_manager_s_place(stack: Stack, team: TeamModel) -> None:
    wanted = {"name": "writer", "message": "Write a haiku.", "terminateAfter": True}
    step = {"type": "Sub-Agent", "subAgent": wanted}
    team.says["Sage"] = response(None, done=False, nextStep=step)
    session_id = team_session(stack)
    answer = stack.chat("a haiku, please", session_id)
    assert (answer["status"], answer["response"]) == ("succeeded", "Writer here")
    assert len(team.bodies("Sage")) == 1
    assert team.bodies("Writer")[0]["messages"][-1]["content"].startswith("Write a haiku.")


@pytest.mark.parametrize(("written", "asked"), [("false", 2), ("True", 1), (1, 1), (False, 2)])
def test_a_manager_reads_a_sub_agent_s_answer_unless_its_call_ends_the_turn(
    stack: Stack, team: TeamModel, written: str | bool | int, asked: int
) -> None:
    call = {"name": "Writer", "message": "Write a haiku.", "terminateAfter": written}

    def sage(messages: list[JSON]) -> JSON:
        has_answer = messages[-1]["role"] == "tool"
        return (
            response("summed up")
            if has_answer
            else {"tools": [{"name": "call_agent", "args": call}]}
        )

    team.says["Sage"] = sage
    answer = stack.chat("a haiku, please", team_session(stack))
    assert answer["response"] == ("Writer here" if asked == 1 else "summed up")
    assert len(team.bodies("Sage")) == asked


def test_a_manager_answers_where_the_agent_in_its_place_says_nothing(
    stack: Stack, team: TeamModel
) -> None:
    call = {"name": "Writer", "message": "Write a haiku.", "terminateAfter": True}
    asks = {"tools": [{"name": "call_agent", "args": call}]}
    sums_up = response("It wrote nothing.")
    team.says |= {"Writer": {"text": " "}, "Sage": lambda m: sums_up if len(m) > 2 else asks}
    assert stack.chat("a haiku", team_session(stack))["response"] == "It wrote nothing."


def test_a_plan_is_talked_over_and_then_runs(stack: Stack, team: TeamModel) -> None:
    tasks = [
        {"tempId": "t1", "name": "Research", "description": "Find it.", "agentName": "Reconciler"},
        {
            "tempId": "t2",
            "name": "Write",
            "description": "Write it.",
            "agentName": "Writer",
            "dependsOn": ["t1"],
            "input": {"found": "@t1.output.text"},
        },
    ]
    graph = {"workflowName": "AI report", "reasoning": "two steps", "tasks": tasks}
    go = response("Here I go.", payloadChangeRequest=payload_of(taskGraph=graph))
    says = {1: chat("Shall I research and write?"), 2: go}

    def sage(messages: list[JSON]) -> JSON:
        if messages[-1]["role"] == "tool":
            return response("All is done.")
        return says[sum(message["role"] == "user" for message in messages)]

    team.says["Sage"] = sage
    session_id = team_session(stack)
    assert stack.chat("Research AI and write a report", session_id)["agent"] == "Sage"
    answer = stack.chat("yes, proceed with that plan", session_id)
    assert (answer["status"], answer["response"]) == ("succeeded", "All is done.")
    assert "Reconciler here" in team.bodies("Writer")[0]["messages"][-1]["content"]
    assert "Writer here" in team.bodies("Sage")[-1]["messages"][-1]["content"]
    assert team.bodies("continuity") == []
    assert "taskGraph" not in stack.state(session_id).get("payload", {})


def test_what_happens_is_told_in_order(stack: Stack, team: TeamModel) -> None:
    session_id = team_session(stack)
    turn = stack.submit("hello", session_id)
    stack.finished(turn["turn_id"])
    told = []
    with stack.events(session_id, **{"Last-Event-ID": "0"}) as events:
        for event in events:
            told.append(event["data"].get("state") or event["event"])
            if event["event"] == "turn_finished":
                break
    wanted = ["routing", "turn_started", "completing", "message_added", "turn_finished"]
    assert [one for one in told if one in wanted][-5:] == wanted


def test_a_payload_is_an_artifact_that_others_read(stack: Stack, team: TeamModel) -> None:
    session_id = team_session(stack)
    team.says["Sage"] = response("noted", payloadChangeRequest=payload_of(found=[1, 2]))
    stack.chat("research", session_id)
    (shown,) = [m for m in stack.messages(session_id) if m["content_type"] == "artifact"]
    assert (shown["content"]["title"], shown["content"]["version"]) == ("Payload", 1)
    team.says["Sage"] = chat("nothing new")
    stack.chat("and?", session_id)
    (kept,) = stack.client.get(f"/sessions/{session_id}/artifacts").json()["items"]
    assert (kept["kind"], kept["version"], kept["agent"]) == ("json", 1, "Sage")
    stack.chat("@Writer go", session_id)
    answer = team.bodies("Writer")[0]["messages"][2]["content"]
    text, _, appended = answer.partition("\n\n# Artifact\n")
    assert (text, json.loads(appended)["content"]) == ("noted", {"found": [1, 2]})
