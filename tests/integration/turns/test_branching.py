"""Edited messages and other answers: what people see, what the model reads, what never changes."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import (
    check_problem,
    check_views,
    make_domain,
    make_session,
    stop,
    texts,
    wait_for_event,
)
from tests.stack import Stack

LONG = script({"text": "word " * 400, "delay": 0.05})


@pytest.fixture(autouse=True)
def answers(stack: Stack, model: ScriptedModel) -> Iterator[None]:
    """The model answers each message with its words and the number of the request."""
    model.steps = lambda messages, body: {
        "text": f"{messages[-1]['content']}! ({len(model.requests)})"
    }
    yield
    model.steps = ()


def talk(stack: Stack, *messages: str, **domain: object) -> tuple[str, list[str]]:
    """A session in which these were asked and answered; its id, and its turns."""
    session_id = make_session(stack, make_domain(stack, **{"middleware": [], **domain})["name"])
    return session_id, [stack.chat(message, session_id)["turn_id"] for message in messages]


def edit(stack: Stack, turn_id: str, message: str, **headers: str) -> httpx.Response:
    return stack.client.post(f"/turns/{turn_id}/edit", json={"message": message}, headers=headers)


def edited(stack: Stack, turn_id: str, message: str) -> str:
    """Edit a message and wait for the answer; give the new turn."""
    answer = edit(stack, turn_id, message)
    assert answer.status_code == 202, answer.text
    turn = stack.finished(answer.json()["id"])
    assert turn["status"] == "succeeded"
    return turn["id"]


def switch(stack: Stack, session_id: str, turn_id: str) -> httpx.Response:
    return stack.client.post(f"/sessions/{session_id}/branch", json={"turn_id": turn_id})


def shown(stack: Stack, session_id: str, **place: int) -> list[JSON]:
    params = {"branch": "active", "limit": 200, **place}
    return stack.client.get(f"/sessions/{session_id}/messages", params=params).json()["items"]


def asked(stack: Stack, session_id: str) -> list[str]:
    """What the person has said on the branch that is shown."""
    return texts(shown(stack, session_id), "user")


def read(stack: Stack, session_id: str) -> list[tuple[str, str]]:
    """What the model reads next."""
    return [(m["role"], m["content"]) for m in stack.state(session_id)["messages"]]


def sent(model: ScriptedModel) -> list[str]:
    """What the model was last sent of a person."""
    return [m["content"] for m in model.messages[-1] if m["role"] == "user"]


def versions(stack: Stack, session_id: str) -> list[tuple[list[str], list[str]]]:
    """The turns of each forked message, and those of them that are shown."""
    answer = stack.client.get(f"/sessions/{session_id}/branches").json()
    return [
        (
            [one["turn_id"] for one in item["versions"]],
            [one["turn_id"] for one in item["versions"] if one["is_active"]],
        )
        for item in answer["items"]
    ]


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


def test_nothing_is_forked_or_switched_while_a_turn_is_not_finished(stack: Stack) -> None:
    session_id, (first, second) = talk(stack, "one", "two")
    edited(stack, second, "other")
    running = stack.submit(LONG, session_id)["turn_id"]
    wait_for_event(stack, session_id, "text_delta")
    queued = stack.submit("later", session_id)["turn_id"]

    for answer in (
        edit(stack, first, "no"),
        edit(stack, running, "no"),
        edit(stack, queued, "no"),
        stack.client.post(f"/turns/{first}/retry"),
        switch(stack, session_id, second),
    ):
        assert "not finished" in check_problem(answer, 409)["detail"]

    stop(stack, running)
    stack.finished(queued)
    assert "no" not in asked(stack, session_id)


def test_what_another_branch_holds_cannot_be_edited(stack: Stack) -> None:
    session_id, (first, second) = talk(stack, "one", "two")
    edited(stack, first, "other")

    check_problem(edit(stack, second, "no"), 409)
    check_problem(stack.client.post(f"/turns/{second}/retry"), 409)

    assert asked(stack, session_id) == ["other"]


def test_a_message_that_was_taken_back_is_in_no_branch(stack: Stack) -> None:
    session_id, _ = talk(stack, "one")
    running = stack.submit(LONG, session_id)["turn_id"]
    withdrawn = stack.submit("later", session_id)["turn_id"]
    stop(stack, withdrawn)
    stop(stack, running)
    stack.finished(running)
    stack.chat("two", session_id)

    check_problem(edit(stack, withdrawn, "no"), 409)
    check_problem(stack.client.post(f"/turns/{withdrawn}/retry"), 409)
    check_problem(switch(stack, session_id, withdrawn), 409)


def test_a_session_of_an_older_version_says_why_it_cannot_be_forked(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")
    stack.query_and_commit(f"UPDATE turns SET state_version = NULL WHERE id = '{first}'")

    assert "older version" in check_problem(edit(stack, first, "other"), 409)["detail"]
    assert versions(stack, session_id) == []


@pytest.mark.parametrize("message", ["", " \n"])
def test_an_empty_edit_is_refused(stack: Stack, message: str) -> None:
    session_id, (first,) = talk(stack, "one")

    check_problem(edit(stack, first, message), 422)

    assert len(stack.messages(session_id)) == 2


def test_missing_turns_and_sessions_are_not_found(stack: Stack) -> None:
    session_id, _ = talk(stack, "one")
    _, (elsewhere,) = talk(stack, "two")

    check_problem(edit(stack, str(uuid4()), "no"), 404)
    check_problem(switch(stack, session_id, str(uuid4())), 404)
    check_problem(switch(stack, session_id, elsewhere), 404)
    check_problem(switch(stack, str(uuid4()), elsewhere), 404)
    check_problem(stack.client.get(f"/sessions/{uuid4()}/branches"), 404)


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


@pytest.mark.parametrize("path", ["edit", "retry"])
def test_one_key_starts_one_turn(stack: Stack, path: str) -> None:
    session_id, (first,) = talk(stack, "one")
    headers = {"Idempotency-Key": uuid4().hex}
    body = {"message": "other"} if path == "edit" else None

    def post(_: int) -> httpx.Response:
        return stack.client.post(f"/turns/{first}/{path}", json=body, headers=headers)

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(post, range(20)))

    assert {answer.status_code for answer in answers} == {202}
    (new,) = {answer.json()["id"] for answer in answers}
    stack.finished(new)
    assert post(0).json()["id"] == new
    assert len(asked(stack, session_id)) == 1
    assert len(texts(stack.messages(session_id), "user")) == 2
    check_problem(edit(stack, first, "third", **headers), 422)


def test_two_edits_at_once_make_one_branch_at_a_time(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: edit(stack, first, f"other {n}"), range(8)))

    taken = [answer for answer in answers if answer.status_code == 202]
    assert taken
    assert {answer.status_code for answer in answers} <= {202, 409}
    for answer in taken:
        stack.finished(answer.json()["id"])
    check_views(stack, session_id)


def test_pages_of_a_branch_follow_each_other_across_its_ranges(stack: Stack) -> None:
    session_id, turns = talk(stack, "one", "two", "three")
    edited(stack, turns[1], "other")
    stack.chat("more", session_id)
    edited(stack, stack.chat("most", session_id)["turn_id"], "most again")
    whole = [row["position"] for row in shown(stack, session_id)]
    assert whole == [1, 2, 7, 8, 9, 10, 13, 14]

    for limit in (1, 2, 3, 5, 8):
        forward, after = [], 0
        while after is not None:
            page = page_of(stack, session_id, limit, after=after)
            forward += [row["position"] for row in page["items"]]
            after = page["next_after"]
        backward, page = [], page_of(stack, session_id, limit)
        backward = [row["position"] for row in page["items"]]
        assert page["next_after"] is None
        while page["next_before"] is not None:
            page = page_of(stack, session_id, limit, before=page["next_before"])
            backward = [row["position"] for row in page["items"]] + backward
        assert forward == backward == whole

    assert page_of(stack, session_id, 2, before=7)["next_before"] is None
    assert page_of(stack, session_id, 2, before=7)["next_after"] == 2
    assert page_of(stack, session_id, 5, after=14)["items"] == []


def page_of(stack: Stack, session_id: str, limit: int, **place: int) -> JSON:
    params = {"branch": "active", "limit": limit, **place}
    return stack.client.get(f"/sessions/{session_id}/messages", params=params).json()


def test_where_nobody_has_forked_there_is_one_branch(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")

    assert shown(stack, session_id) == stack.messages(session_id)
    assert stack.client.get(f"/sessions/{session_id}").json()["branch"] is None
    assert stack.client.get(f"/sessions/{session_id}/branches").json() == {
        "branch": None, "items": [],
    }  # fmt: skip
    edited(stack, first, "other")
    assert stack.client.get(f"/sessions/{session_id}").json()["branch"] == 2
    switch(stack, session_id, first)
    assert stack.client.get(f"/sessions/{session_id}").json()["branch"] == 1


def test_what_is_rebuilt_is_the_branch_that_is_shown(stack: Stack) -> None:
    session_id, (_, second) = talk(stack, "one", "two")
    edited(stack, second, "other")

    assert stack.client.post(f"/sessions/{session_id}/rebuild").status_code == 200

    said = [text for role, text in read(stack, session_id) if role == "user"]
    assert said == ["one", "other"]
    switch(stack, session_id, second)
    said = [text for role, text in read(stack, session_id) if role == "user"]
    assert said == ["one", "two"]


def test_versions_of_the_state_are_linear_and_deleted_with_the_session(stack: Stack) -> None:
    session_id, (_, second) = talk(stack, "one", "two")
    edited(stack, second, "other")
    switch(stack, session_id, second)
    found = stack.query(
        "SELECT version FROM agent_state_deltas WHERE conversation_id = :id ORDER BY version",
        id=session_id,
    )
    assert [row.version for row in found] == list(range(1, len(found) + 1))
    assert stack.query("SELECT * FROM branches WHERE conversation_id = :id", id=session_id)

    stack.client.delete(f"/sessions/{session_id}")

    for table in ("branches", "turns", "display_messages", "agent_state_deltas"):
        rows = stack.query(f"SELECT 1 FROM {table} WHERE conversation_id = :id", id=session_id)
        assert rows == []


def test_the_title_stays_that_of_the_session(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")

    edited(stack, first, "other")

    assert stack.client.get(f"/sessions/{session_id}").json()["title"] == "one"


def test_a_fork_is_told_to_those_who_follow(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")
    with stack.events(session_id) as events:
        new = edit(stack, first, "other").json()["id"]
        told = []
        for event in events:
            told.append(event)
            if event["event"] == "turn_finished":
                break

    assert {event["data"]["context"]["turn_id"] for event in told} == {new}
    assert told[0]["event"] == "turn_queued"
    assert told[0]["data"]["turn"]["fork_of"] == first
    positions = [e["data"]["message"]["position"] for e in told if e["event"] == "message_added"]
    assert positions == [3, 4]
