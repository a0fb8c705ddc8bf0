"""An edited message or another answer is a version of its turn, on a branch of its own."""

import httpx
import pytest

from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_views, stop, texts
from tests.integration.turns.answers_to_stop import LONG
from tests.integration.turns.branching.branches import (
    asked,
    edited,
    read,
    sent,
    shown,
    switch,
    talk,
    versions,
)
from tests.stack import Stack


@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "middle", "last"])
def test_an_edited_message_forks_the_session_before_it(
    stack: Stack, model: ScriptedModel, place: int
) -> None:
    session_id, turns = talk(stack, "one", "two", "three")
    before = stack.messages(session_id)

    new = edited(stack, turns[place], "other")

    kept = ["one", "two", "three"][:place]
    assert asked(stack, session_id) == [*kept, "other"]
    assert sent(model) == [*kept, "other"]
    rows, state = check_views(stack, session_id)
    assert rows[: len(before)] == before
    assert texts(rows, "user") == ["one", "two", "three", "other"]
    assert [m["content"] for m in state["messages"] if m["role"] == "user"] == [*kept, "other"]
    assert versions(stack, session_id) == [([turns[place], new], [new])]
    assert stack.turn(new)["fork_of"] == turns[place]


def test_branches_are_switched_back_and_forth_and_continued(
    stack: Stack, model: ScriptedModel
) -> None:
    session_id, turns = talk(stack, "one", "two")
    first_state = read(stack, session_id)
    new = edited(stack, turns[1], "other")
    stack.chat("after other", session_id)
    second_state = read(stack, session_id)

    assert switch(stack, session_id, turns[1]).status_code == 200
    assert (asked(stack, session_id), read(stack, session_id)) == (["one", "two"], first_state)
    stack.chat("after two", session_id)
    assert sent(model) == ["one", "two", "after two"]

    answer = switch(stack, session_id, new).json()
    assert [one["is_active"] for one in answer["items"][0]["versions"]] == [False, True]
    assert asked(stack, session_id) == ["one", "other", "after other"]
    assert read(stack, session_id) == second_state
    stack.chat("last", session_id)
    assert sent(model) == ["one", "other", "after other", "last"]
    switch(stack, session_id, turns[1])
    assert asked(stack, session_id) == ["one", "two", "after two"]
    check_views(stack, session_id)


def test_a_fork_of_a_fork_is_another_version_of_the_same_message(stack: Stack) -> None:
    session_id, (first, second) = talk(stack, "one", "two")
    again = edited(stack, second, "two again")
    third = edited(stack, again, "two once more")
    early = edited(stack, first, "one again")

    assert versions(stack, session_id) == [
        ([first, early], [early]),
        ([second, again, third], []),
    ]
    switch(stack, session_id, again)
    assert asked(stack, session_id) == ["one", "two again"]
    assert versions(stack, session_id) == [
        ([first, early], [first]),
        ([second, again, third], [again]),
    ]


def test_of_several_branches_the_one_that_was_left_last_is_shown(stack: Stack) -> None:
    session_id, (first, second) = talk(stack, "one", "two")
    edited(stack, second, "two again")
    switch(stack, session_id, second)
    other = edited(stack, first, "other")

    switch(stack, session_id, first)

    assert asked(stack, session_id) == ["one", "two"]
    switch(stack, session_id, other)
    assert asked(stack, session_id) == ["other"]


def test_what_is_shown_already_stays_as_it_is(stack: Stack) -> None:
    session_id, (first, second) = talk(stack, "one", "two")
    edited(stack, second, "other")
    state = stack.state(session_id)

    assert switch(stack, session_id, first).status_code == 200

    assert asked(stack, session_id) == ["one", "other"]
    assert stack.state(session_id) == state


def test_another_answer_is_asked_for(stack: Stack, model: ScriptedModel) -> None:
    session_id, (first, second) = talk(stack, "one", "two")

    answer = stack.client.post(f"/turns/{first}/retry")

    assert answer.status_code == 202
    new = stack.finished(answer.json()["id"])
    assert asked(stack, session_id) == ["one"] == sent(model)
    assert texts(shown(stack, session_id), "assistant") == ["one! (3)"]
    assert versions(stack, session_id) == [([first, new["id"]], [new["id"]])]
    switch(stack, session_id, second)
    assert texts(shown(stack, session_id), "assistant") == ["one! (1)", "two! (2)"]


def test_a_failed_turn_goes_on_also_after_a_switch(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")
    failing = stack.submit(script({"status": 400, "text": "no"}), session_id)["turn_id"]
    stack.finished(failing)
    edited(stack, first, "other")
    switch(stack, session_id, failing)

    again = stack.client.post(f"/turns/{failing}/retry").json()

    stack.finished(again["id"])
    assert again["fork_of"] is None
    assert asked(stack, session_id)[0] == "one"
    assert len(asked(stack, session_id)) == 2


def test_the_message_of_a_turn_that_went_on_can_be_edited(
    stack: Stack, model: ScriptedModel
) -> None:
    session_id, _ = talk(stack, "one")
    failing = stack.submit(script({"status": 400, "text": "no"}), session_id)["turn_id"]
    stack.finished(failing)
    again = stack.client.post(f"/turns/{failing}/retry").json()["id"]
    stack.finished(again)

    new = edited(stack, again, "other")

    assert sent(model) == ["one", "other"]
    assert versions(stack, session_id) == [([failing, new], [new])]


def test_a_message_that_had_to_wait_can_be_edited(stack: Stack) -> None:
    session_id, _ = talk(stack)
    first = stack.submit(LONG, session_id)["turn_id"]
    second = stack.submit("second", session_id)["turn_id"]
    stop(stack, first)
    assert stack.finished(second)["status"] == "succeeded"

    edited(stack, second, "second, edited")

    assert asked(stack, session_id)[-1] == "second, edited"


def test_an_earlier_failed_turn_gets_another_answer_on_a_branch(stack: Stack) -> None:
    session_id, (first,) = talk(stack, script({"status": 400, "text": "no"}))
    stack.chat("two", session_id)

    answer = stack.client.post(f"/turns/{first}/retry")

    assert answer.status_code == 202
    stack.finished(answer.json()["id"])
    assert len(asked(stack, session_id)) == 1


def test_a_message_that_the_model_no_longer_reads_can_be_edited(
    stack: Stack, model: ScriptedModel
) -> None:
    few = [{"recent_messages": {"trigger": 3, "keep": 2}}]
    session_id, turns = talk(stack, "one", "two", "three", "four", middleware=few)
    assert ("user", "one") not in read(stack, session_id)
    newest = read(stack, session_id)

    edited(stack, turns[1], "other")

    assert asked(stack, session_id) == ["one", "other"]
    assert sent(model) == ["one", "other"]
    switch(stack, session_id, turns[3])
    assert read(stack, session_id) == newest


def test_requests_after_a_switch_are_what_they_would_have_been(
    stack: Stack, model: ScriptedModel
) -> None:
    model.steps = lambda messages, body: {"text": f"{messages[-1]['content']}!"}
    with_tool = script({"tools": [{"name": "list_sources", "id": "c1"}]}, {"text": "Seen."})
    tools = {"agents": [{"name": "a", "tools": ["list_sources"]}]}
    straight, _ = talk(stack, "one", with_tool, "three", **tools)
    stack.chat("next", straight)
    wanted = model.requests[-1]
    session_id, (first, _, third) = talk(stack, "one", with_tool, "three", **tools)
    edited(stack, first, "elsewhere")
    switch(stack, session_id, third)

    stack.chat("next", session_id)

    assert len(wanted["messages"]) == 9
    assert model.requests[-1] == wanted


def test_an_edit_names_the_agent_that_is_to_answer(stack: Stack) -> None:
    agents = [{"name": "first", "tools": []}, {"name": "second", "tools": []}]
    session_id, (first,) = talk(stack, "one", agents=agents)

    def edit_for(agent: str) -> httpx.Response:
        body = {"message": "other", "agent": agent}
        return stack.client.post(f"/turns/{first}/edit", json=body)

    assert edit_for("nobody").status_code == 422
    turn = stack.finished(edit_for("second").json()["id"])

    assert turn["agent"] == "second"
    assert asked(stack, session_id) == ["other"]
