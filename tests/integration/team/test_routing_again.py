"""Routes after what changes a conversation, or its worker: edits, branches, a lost worker."""

import pytest

from tests.fakes import ScriptedModel
from tests.integration.team.scenes import TeamModel, chat, payload_of, response, team_session
from tests.stack import Stack


@pytest.fixture
def team(model: ScriptedModel) -> TeamModel:
    return TeamModel(model)


def test_an_edited_message_is_routed_anew_and_each_branch_has_its_own_last_agent(
    stack: Stack, team: TeamModel
) -> None:
    team.continuity = {"text": "YES"}
    session_id = team_session(stack)
    stack.chat("hello", session_id)
    first = stack.chat("@Writer a note", session_id)["turn_id"]

    body = {"message": "@Reconciler a note"}
    edited = stack.client.post(f"/turns/{first}/edit", json=body).json()["id"]
    assert stack.finished(edited)["agent"] == "Reconciler"
    assert stack.chat("and more", session_id)["agent"] == "Reconciler"

    stack.client.post(f"/sessions/{session_id}/branch", json={"turn_id": first})
    assert stack.chat("and more", session_id)["agent"] == "Writer"

    refused = stack.client.post(f"/turns/{first}/edit", json={"message": "@Nobody go"})
    assert refused.status_code == 422


def test_another_answer_to_a_message_is_routed_anew(stack: Stack, team: TeamModel) -> None:
    session_id = team_session(stack)
    stack.chat("@Writer a note", session_id)
    team.continuity = {"text": "NO"}
    turn_id = stack.chat("and more", session_id)["turn_id"]
    team.continuity = {"text": "YES"}
    again = stack.client.post(f"/turns/{turn_id}/retry").json()["id"]
    turn = stack.finished(again)
    assert (turn["agent"], turn["route"]["answer"]) == ("Writer", "YES")


def test_another_answer_is_by_the_agent_that_the_message_was_sent_to(
    stack: Stack, team: TeamModel
) -> None:
    session_id = team_session(stack)
    turn_id = stack.chat("a note", session_id, agent="writer")["turn_id"]
    again = stack.client.post(f"/turns/{turn_id}/retry").json()["id"]
    turn = stack.finished(again)
    assert (turn["agent"], turn["route"]["reason"]) == ("Writer", "asked")

    edited = stack.client.post(f"/turns/{again}/edit", json={"message": "hello"}).json()["id"]
    assert stack.finished(edited)["agent"] == "Sage"


def test_another_answer_with_an_equal_payload_has_its_artifact(
    stack: Stack, team: TeamModel
) -> None:
    team.says["Sage"] = response("noted", payloadChangeRequest=payload_of(found=1))
    session_id = team_session(stack)
    turn_id = stack.chat("research", session_id)["turn_id"]

    again = stack.client.post(f"/turns/{turn_id}/retry").json()["id"]
    stack.finished(again)
    team.says["Sage"] = chat("nothing new")
    stack.chat("and?", session_id)

    shown = [m for m in stack.messages(session_id) if m["content_type"] == "artifact"]
    assert [(m["turn_id"], m["content"]["version"]) for m in shown] == [(turn_id, 1), (again, 2)]


def test_a_specialist_is_remembered_when_its_messages_are_not(
    stack: Stack, team: TeamModel
) -> None:
    few = [{"recent_messages": {"trigger": 2, "keep": 1}}]
    session_id = team_session(stack, middleware=few)
    stack.chat("@Writer a note", session_id)
    for _ in range(2):
        stack.chat("@Sage hello", session_id)
    team.continuity = {"text": "YES"}

    answer = stack.chat("and more", session_id)

    assert "Writer" not in [m.get("name") for m in stack.state(session_id)["messages"][:-1]]
    assert answer["agent"] == "Writer"


@pytest.mark.parametrize("slow", ["continuity", "answer"])
def test_a_lost_worker_loses_no_route_and_no_payload(
    own_stack: Stack, team: TeamModel, slow: str
) -> None:
    stack = own_stack
    team.says["Sage"] = response("noted", payloadChangeRequest=payload_of(found=1))
    session_id = team_session(stack, continuity_seconds=60)
    stack.chat("research", session_id)
    stack.chat("@Writer a note", session_id)
    endless = {"text": "YES", "wait": 600}
    team.continuity = endless if slow == "continuity" else {"text": "YES"}
    team.says["Writer"] = endless if slow == "answer" else {"text": "Writer here"}
    asked = len(team.heard)
    turn_id = stack.submit("and more", session_id)["turn_id"]
    wanted = "continuity" if slow == "continuity" else "Writer"
    stack.wait_for(lambda: wanted in [who for who, _ in team.heard[asked:]], "nobody was asked")

    stack.kill_workers()
    team.continuity, team.says["Writer"] = {"text": "YES"}, {"text": "Writer again"}
    stack.start_worker()

    turn = stack.finished(turn_id)
    assert (turn["status"], turn["agent"], turn["attempts"]) == ("succeeded", "Writer", 2)
    questions = [who for who, _ in team.heard[asked:]].count("continuity")
    assert questions == (2 if slow == "continuity" else 1)
    assert stack.state(session_id)["payload"] == {"found": 1}
    team.says["Sage"] = chat("well")
    assert stack.chat("@Sage well?", session_id)["response"] == "well"
